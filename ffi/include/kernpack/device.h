// Devices: a type and a number.
#ifndef KERNPACK_DEVICE_H_
#define KERNPACK_DEVICE_H_

#include <kernpack/config.h>
#include <kernpack/text.h>
#include <kernpack/value_names.h>

#if defined(KP_NAMES_OF_DEVICES)
#include <kernpack/host/host.h>
#endif

KP_NAMESPACE_BEGIN

// A device: its type and its number among the devices of that type. Converts both ways to KpDLDevice.
//
//   if (x.device() == kp::Device::cuda(1)) RunOnSecond(x);
//   KP_CHECK(x.device().is_cpu(), ValueError) << "expected a tensor on the CPU, got one on " << x.device();
//   const kp::Tensor there = kp::Tensor::Empty({16}, kp::f32, kp::Device::opencl());
struct Device {
  int32_t type = KP_DEVICE_CPU;  // KpDeviceType, or a value that the host assigned
  int32_t id = 0;

  constexpr Device() = default;
  constexpr Device(int32_t type_, int32_t id_) : type(type_), id(id_) {}
  constexpr Device(KpDLDevice d) : type(d.device_type), id(d.device_id) {}
  constexpr operator KpDLDevice() const { return {type, id}; }

  static constexpr Device cpu() { return {KP_DEVICE_CPU, 0}; }
  static constexpr Device cuda(int32_t id = 0) { return {KP_DEVICE_CUDA, id}; }
  static constexpr Device opencl(int32_t id = 0) { return {KP_DEVICE_OPENCL, id}; }

  constexpr bool is_cpu() const { return type == KP_DEVICE_CPU; }
  constexpr bool is_cuda() const { return type == KP_DEVICE_CUDA; }

  friend constexpr bool operator==(Device a, Device b) { return a.type == b.type && a.id == b.id; }
  friend constexpr bool operator!=(Device a, Device b) { return !(a == b); }
};

// "cpu", "cuda:1"; "device_type(99):0" if the type has no known name.
KP_COLD inline Text& operator<<(Text& text, Device d) {
  if (d.type == KP_DEVICE_CPU) return text << "cpu";
  const char* name = kp_known_device_name(d.type);
#if defined(KP_NAMES_OF_DEVICES)
  if (!name) name = kp_device_type_name(d.type);  // the host also knows those that it allotted
#endif
  if (name)
    text << name;
  else
    text << "device_type(" << d.type << ')';
  return text << ':' << d.id;
}
inline Text& operator<<(Text& text, KpDLDevice d) { return text << Device(d); }

KP_NAMESPACE_END

#endif  // KERNPACK_DEVICE_H_
