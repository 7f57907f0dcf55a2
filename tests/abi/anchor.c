/* One function that names every public type, so that abidw describes them all. Compiled with debug information, never run. */
#include <kernpack/host/host.h>
#include <kernpack/host/signature.h>

KP_EXPORT_SYMBOL int anchor(const KpHost* host, const KpModule* module, const KpFunctionDef* definition,
                            const KpAny* any, const KpStrObject* str, const KpShapeObject* shape,
                            const KpTensorObject* tensor, const KpFunctionObject* function,
                            const KpSequenceObject* sequence, const KpMapObject* map, const KpErrorObject* error,
                            const KpOpaqueObject* opaque, const KpStorageKey* key, KpModuleQuery query,
                            const KpLoadedFunction* loaded, const KpCallContext* context, const KpSigFrame* frame,
                            const KpSigParam* param, const KpSigResult* result, const KpDLManagedTensor* managed,
                            const KpDLManagedTensorVersioned* versioned, enum KpTypeIndex type,
                            enum KpDeviceType device, enum KpDTypeCode code, enum KpDefKind kind,
                            enum KpStorageScope scope, enum KpLogLevel level, enum KpParamKind param_kind);
int anchor(const KpHost* host, const KpModule* module, const KpFunctionDef* definition, const KpAny* any,
           const KpStrObject* str, const KpShapeObject* shape, const KpTensorObject* tensor,
           const KpFunctionObject* function, const KpSequenceObject* sequence, const KpMapObject* map,
           const KpErrorObject* error, const KpOpaqueObject* opaque, const KpStorageKey* key, KpModuleQuery query,
           const KpLoadedFunction* loaded, const KpCallContext* context, const KpSigFrame* frame,
           const KpSigParam* param, const KpSigResult* result, const KpDLManagedTensor* managed,
           const KpDLManagedTensorVersioned* versioned, enum KpTypeIndex type, enum KpDeviceType device,
           enum KpDTypeCode code, enum KpDefKind kind, enum KpStorageScope scope, enum KpLogLevel level,
           enum KpParamKind param_kind) {
  return host && module && definition && any && str && shape && tensor && function && sequence && map && error &&
         opaque && key && query && loaded && context && frame && param && result && managed && versioned &&
         (int)type + (int)device + (int)code + (int)kind + (int)scope + (int)level + (int)param_kind;
}
