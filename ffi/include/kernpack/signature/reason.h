// Why a text isn't a signature. At compile time the enumerator's name is the message (signature::Diagnose), at run time
// the sentence beside it.
#ifndef KERNPACK_SIGNATURE_REASON_H_
#define KERNPACK_SIGNATURE_REASON_H_

#include <kernpack/config.h>

// X(enumerator, sentence)
#define KP_SIGNATURE_REASONS(X)                                                                                   \
  X(kNone, "")                                                                                                    \
  X(kTextTooLong, "the text is too long (at most 16384 bytes)")                                                   \
  X(kProgramTooLarge, "the signature is too large")                                                               \
  X(kUnexpectedCharacter, "unexpected character")                                                                 \
  X(kUnterminatedString, "the string does not end")                                                               \
  X(kBadCharacterInString, "strings hold printable text; the escapes are \\\\ \\\" \\' \\n \\t")                  \
  X(kNumberOutOfRange, "the number is out of range")                                                              \
  X(kTooManyDigits, "at most 19 significant digits are read")                                                     \
  X(kMalformedNumber, "malformed number")                                                                         \
  X(kExpectedOpeningParenthesis, "expected '('")                                                                  \
  X(kExpectedClosingParenthesis, "expected ')' or ','")                                                           \
  X(kExpectedArrow, "expected '->' and the results in parentheses")                                               \
  X(kExpectedEndWhereOrWith, "expected the end of the text, 'where' or 'with'")                                   \
  X(kExpectedName, "expected a name: [a-z_][a-z0-9_]*")                                                           \
  X(kNameMustBeLowerCase, "names are lower-case: [a-z_][a-z0-9_]*")                                               \
  X(kReservedName, "this name is reserved (Python keywords, dtype names, _, self, dtypes)")                       \
  X(kDuplicateName, "this name is already taken by another parameter or result")                                  \
  X(kExpectedColon, "expected ':' and a type")                                                                    \
  X(kExpectedType, "expected a dtype, a dtype variable, int, float, bool, dtype, device, str or list[...]")       \
  X(kUnknownDType, "no such dtype")                                                                               \
  X(kExpectedShape, "expected a shape in brackets, as in f32[N, D] or f32[]")                                     \
  X(kExpectedClosingBracket, "expected ']' or ','")                                                               \
  X(kExpectedCpuAfterAt, "only @cpu can follow '@'")                                                              \
  X(kStarStartsKeywordOnly, "'*' stands once, alone, and parameters follow it")                                   \
  X(kDefaultBeforeNoDefault, "a positional parameter without a default follows one with a default")               \
  X(kMutatedMustBeTensor, "only a tensor or a list of tensors can be written in place ('!')")                     \
  X(kListInList, "lists do not nest and are not optional")                                                        \
  X(kExpectedDefault, "expected a default: a number, inf, nan, a string, True, False, None, a dtype or a list")   \
  X(kDefaultDoesNotFit, "the default does not fit the parameter's type")                                          \
  X(kNoneNeedsOptional, "None as a default needs the optional mark '?'")                                          \
  X(kDefaultNotAmongChoices, "the default is not one of the strings allowed")                                     \
  X(kExpectedString, "expected a string")                                                                         \
  X(kExpectedOpeningBrace, "expected '{'")                                                                        \
  X(kExpectedClosingBrace, "expected '}' or ','")                                                                 \
  X(kDuplicateChoice, "listed twice")                                                                             \
  X(kTooManyParameters, "at most 64 parameters")                                                                  \
  X(kTooManyResults, "at most 16 results")                                                                        \
  X(kTooManyDims, "at most 32 dim names")                                                                         \
  X(kTooManyStars, "at most 8 dims tuples (*Var)")                                                                \
  X(kTooManyDTypeVariables, "at most 8 dtype variables")                                                          \
  X(kTooManyShapeDims, "at most 64 dims in a shape")                                                              \
  X(kTooManyIntReferences, "at most 32 int parameters in expressions")                                            \
  X(kTooManyConditions, "at most 32 conditions")                                                                  \
  X(kTooManyChoices, "at most 64 strings in a set")                                                               \
  X(kBatchMustComeFirst, "'...' and '~...' stand first in a shape, once")                                         \
  X(kBroadcastBatchInResult, "'~...' is for parameters; a result has '...'")                                      \
  X(kBroadcastBatchWithoutBatch, "'~...' needs a parameter that has '...'")                                       \
  X(kBatchNeverBound, "'...' in a result needs a parameter that has '...' and cannot be absent")                  \
  X(kStarNeedsVariable, "'*' in a shape takes a variable, as in T[*Dims, D]; or a ']' is missing before it")      \
  X(kOneStarATensor,                                                                                              \
    "a tensor has at most one dims tuple, and none beside '...' in a parameter: callers join the dims of one "    \
    "(docs/patterns.md)")                                                                                         \
  X(kAnyDimInResult,                                                                                              \
    "'_' is for parameters; a result's size must be known: where data decide it, give a bound and a count "       \
    "(docs/patterns.md)")                                                                                         \
  X(kVariableIsBothDTypeAndDim, "a variable is a dtype, a dim or a dims tuple, never two of them")                \
  X(kDimNeverBound, "no parameter has this dim by itself, so nothing binds it")                                   \
  X(kDimMayBeAbsent, "this dim is bound only by an optional parameter, which may be None")                        \
  X(kStarNeverBound, "no parameter that must be present has this dims tuple")                                     \
  X(kDTypeVariableNeverUsed, "no parameter has this dtype variable")                                              \
  X(kDTypeMayBeAbsent, "this dtype variable is bound by no parameter that must be present")                       \
  X(kDTypeVariableNotConstrained, "every dtype variable needs 'where T in {...}' or 'where T in any'")            \
  X(kDTypeConstrainedTwice, "this dtype variable has its set already")                                            \
  X(kNoRealForm, "real() needs a set of floats and c64, c128")                                                    \
  X(kNoComplexForm, "complex() needs a set of f32, f64, c64, c128")                                               \
  X(kNotADTypeParameter, "a result's dtype is a dtype, a dtype variable or a required dtype parameter")           \
  X(kExpectedExpression, "expected an integer, a dim, an int parameter or '('")                                   \
  X(kNotAnIntParameter, "expressions use required int parameters")                                                \
  X(kListNeedsAnIndex, "an expression takes one item of a list of ints, as in stride[0]")                         \
  X(kNotAListOfInts, "only an item of a required list[int] parameter has an index, as in stride[0]")              \
  X(kExpectedIndex, "an index is a number from 0 to 63, as in stride[0]")                                         \
  X(kDefaultTooShort, "the default of this list has fewer items than the signature's expressions use")            \
  X(kNotATensorParameter, "expected the name of a required tensor parameter")                                     \
  X(kOnlyInWorkspace, "numel() and itemsize() are for workspace=")                                                \
  X(kNoSuchFunction, "the functions are min, max, ceildiv and, in workspace=, numel and itemsize")                \
  X(kWrongArgumentCount, "ceildiv takes two arguments, min and max two or more")                                  \
  X(kExpressionTooDeep, "the expression nests too deeply")                                                        \
  X(kExpectedRelation, "expected a condition: T in {...}, or < <= > >= == != between expressions")                \
  X(kExpectedDTypeSet, "expected 'any' or a set of dtypes in braces")                                             \
  X(kUnknownProperty,                                                                                             \
    "the properties are quick, graph_safe, deterministic, workspace=, on, independent(), invariant(), nondiff()") \
  X(kDuplicateProperty, "this property is given twice")                                                           \
  X(kExpectedEquals, "expected '='")                                                                              \
  X(kUnknownDevice, "no such device; the names are DLPack's: cpu, cuda, rocm, opencl, metal, vulkan, ...")        \
  X(kExpectedDim, "expected a dim that a parameter has")                                                          \
  X(kExpectedInvariant, "expected a dim that a parameter has, or 'batch' where a parameter has '...'")            \
  X(kExpectedParameter, "expected the name of a parameter")                                                       \
  X(kMalformedVersion, "expected the ABI that the text is written for, as in '1.0 (x: f32[N]) -> ()'")            \
  X(kOfAnotherAbi, "the text is written for an ABI that this version does not know: pip install -U kernpack")     \
  X(kReservedMark, "'aligned' is reserved for a later ABI")                                                       \
  X(kStridedOrCompact, "'strided' (the kernel gets the strides) or 'compact' (it gets a copy), not both")         \
  X(kWrittenIsNotCompact, "what is written in place ('!') is never copied: 'strided', or neither mark")           \
  X(kMarkBehindList, "the marks of a list's items stand inside its brackets, as in list[f32[N] strided]")         \
  X(kReservedBlockDType, "block dtypes (q4, q8 and their kinds) are reserved for a later ABI")

KP_NAMESPACE_BEGIN
namespace signature {

#define KP_SIGNATURE_REASON_(name, sentence) name,
enum class Reason : uint32_t { KP_SIGNATURE_REASONS(KP_SIGNATURE_REASON_) };
#undef KP_SIGNATURE_REASON_

// The result of compiling: `words` of program, or the reason of the failure and its byte in the text (from 0).
struct Status {
  Reason reason;
  uint32_t position;
  uint32_t words;
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_REASON_H_
