# Writes a C++ file that holds the text of headers, those of kernels and those of a user's collision:
# cmake -DROOT=folder -DHEADERS=a.h,b.h -DCUSTOM_HEADERS=c.h,d.h -DOUTPUT=file.cpp -P this.
function(read_headers list entries)
  string(REPLACE "," ";" headers "${list}")
  set(found "")
  foreach(header IN LISTS headers)
    file(READ "${ROOT}/${header}" text)
    string(APPEND found "    {\"${header}\", R\"lbm_text(${text})lbm_text\"},\n")
  endforeach()
  set(${entries} "${found}" PARENT_SCOPE)
endfunction()
read_headers("${HEADERS}" entries)
read_headers("${CUSTOM_HEADERS}" custom_entries)
set(text "// Written by the build: the headers that kernels are compiled from at run time.
#include \"backend/run_time_compilation/embedded_headers.h\"

namespace lbm::run_time {

const std::vector<EmbeddedHeader>& embedded_headers() {
    static const std::vector<EmbeddedHeader> headers = {
${entries}    };
    return headers;
}

const std::vector<EmbeddedHeader>& embedded_custom_headers() {
    static const std::vector<EmbeddedHeader> headers = {
${custom_entries}    };
    return headers;
}

}  // namespace lbm::run_time
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)  # or it would be compiled again
  file(WRITE "${OUTPUT}" "${text}")
endif()
