# Writes a C++ file that holds the text of headers: cmake -DROOT=folder -DHEADERS=a.h,b.h -DOUTPUT=file.cpp -P this.
string(REPLACE "," ";" headers "${HEADERS}")
set(entries "")
foreach(header IN LISTS headers)
  file(READ "${ROOT}/${header}" text)
  string(APPEND entries "    {\"${header}\", R\"lbm_text(${text})lbm_text\"},\n")
endforeach()
set(text "// Written by the build: the headers that kernels are compiled from at run time.
#include \"backend/cuda/embedded_headers.h\"

namespace lbm::cuda {

const std::vector<EmbeddedHeader>& embedded_headers() {
    static const std::vector<EmbeddedHeader> headers = {
${entries}    };
    return headers;
}

}  // namespace lbm::cuda
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)  # or it would be compiled again
  file(WRITE "${OUTPUT}" "${text}")
endif()
