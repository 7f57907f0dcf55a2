// A value against the option that declares it.
#ifndef KERNPACK_SDK_COMPILER_TARGET_OPTION_H_
#define KERNPACK_SDK_COMPILER_TARGET_OPTION_H_

#include "target/construct.h"

namespace kernpack::sdk {

// "option 'arch' of target kind 'cuda'".
std::string Describe(const TargetKind& kind, std::string_view option);
// ValueError that lists the kind's options and suggests the nearest.
[[noreturn]] void UnknownOption(const TargetKind& kind, std::string_view name);

// `value` as `type`: as it is, 0 and 1 for a bool, an int for a float, a str or dict for a Target. TypeError otherwise;
// ValueError for a float that is not finite and text that holds NUL. `what` starts the message.
AttrValue Coerce(const AttrValue& value, const OptionType& type, const Nesting& nesting, const std::string& what);
// As Coerce, and asks the option's validator.
AttrValue CheckOption(const TargetKind& kind, const TargetOption& option, const AttrValue& value,
                      const Nesting& nesting);

// Converts the value of an option on the command line, still quoted; ValueError when it isn't a value of that type.
AttrValue Interpret(std::string_view raw, const OptionType& type, const std::string& what);
// For features, which declare no type: true, false, a number, else text; quoted text is text.
AttrValue InterpretUntyped(std::string_view raw);

// The other way: Interpret gives the value back.
std::string Render(const AttrValue& value);
// InterpretUntyped gives the value back.
std::string RenderUntyped(const AttrValue& value);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_OPTION_H_
