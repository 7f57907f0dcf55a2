# cmake -DSOURCES=<list> -DOUTPUT=<file> -P: writes a source file that defines kp_content_hash, a digest of the sources.
set(digests "")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
file(
  WRITE ${OUTPUT}
  "#ifdef __cplusplus
extern \"C\"
#endif
__attribute__((visibility(\"hidden\"))) const char kp_content_hash[] = \"${digest}\";
")
