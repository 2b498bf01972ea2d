# CUDA sources without CMake's own CUDA language, which wants a toolkit at configure time in one of its places:
# nvcc comes from tools/cuda-toolkit (installed, or fetched wheels), and each .cu is one custom command.
#
#   cuzk_cuda_objects(VARIABLE file.cu ... )     object files, for add_library or add_executable
#   cuda_runtime                                 what a program with such objects links: the static runtime
#
# CUZK_CUDA_ARCHITECTURES: sm_ numbers to compile for; PTX is added for the last, for cards to come.
# Releases: 80;86;89;120;90.
set(CUZK_CUDA_ARCHITECTURES "90" CACHE STRING "CUDA architectures (release: 80;86;89;120;90); PTX for the last")
set(CUZK_NVCC "" CACHE FILEPATH "nvcc; empty: ask tools/cuda-toolkit")

if(NOT CUZK_NVCC)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/cuda-toolkit
    OUTPUT_VARIABLE nvcc OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "CUZK_CUDA is ON but no nvcc was found or fetched (see above). Set CUDA_HOME or CUZK_NVCC, or configure with -DCUZK_CUDA=OFF.")
  endif()
  set(CUZK_NVCC "${nvcc}" CACHE FILEPATH "nvcc; empty: ask tools/cuda-toolkit" FORCE)
endif()
get_filename_component(CUZK_CUDA_HOME "${CUZK_NVCC}" DIRECTORY)
get_filename_component(CUZK_CUDA_HOME "${CUZK_CUDA_HOME}" DIRECTORY)
message(STATUS "CUDA: ${CUZK_NVCC}, architectures ${CUZK_CUDA_ARCHITECTURES}")

set(cuzk_nvcc_flags -std=c++17 -O3 -Xfatbin=-compress-all -Xcompiler=-fPIC,-fvisibility=hidden,-fno-omit-frame-pointer
  -I${CMAKE_SOURCE_DIR}/src --expt-relaxed-constexpr)
foreach(arch ${CUZK_CUDA_ARCHITECTURES})
  list(APPEND cuzk_nvcc_flags -gencode=arch=compute_${arch},code=sm_${arch})
endforeach()
list(GET CUZK_CUDA_ARCHITECTURES -1 last_arch)
list(APPEND cuzk_nvcc_flags -gencode=arch=compute_${last_arch},code=compute_${last_arch})
set(cuzk_nvcc_flags ${cuzk_nvcc_flags} CACHE INTERNAL "")

find_library(CUZK_CUDART cudart_static REQUIRED NO_CACHE NO_DEFAULT_PATH
  PATHS ${CUZK_CUDA_HOME}/lib64 ${CUZK_CUDA_HOME}/lib ${CUZK_CUDA_HOME}/targets/x86_64-linux/lib
        ${CUZK_CUDA_HOME}/targets/sbsa-linux/lib)
find_path(CUZK_CUDA_INCLUDE cuda_runtime.h REQUIRED NO_CACHE NO_DEFAULT_PATH
  PATHS ${CUZK_CUDA_HOME}/include ${CUZK_CUDA_HOME}/targets/x86_64-linux/include
        ${CUZK_CUDA_HOME}/targets/sbsa-linux/include)
add_library(cuda_runtime INTERFACE)
target_link_libraries(cuda_runtime INTERFACE ${CUZK_CUDART} ${CMAKE_DL_LIBS} rt Threads::Threads stdc++)
target_include_directories(cuda_runtime SYSTEM INTERFACE ${CUZK_CUDA_INCLUDE})

function(cuzk_cuda_objects variable)
  cmake_parse_arguments(A "" "" "FLAGS;SOURCES" ${ARGN})
  set(objects "")
  foreach(source ${A_SOURCES})
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(name "${source}" NAME)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.o")
    add_custom_command(OUTPUT "${object}"
      COMMAND "${CUZK_NVCC}" ${cuzk_nvcc_flags} ${A_FLAGS} -MD -MF "${object}.d" -c "${source}" -o "${object}"
      DEPENDS "${source}" DEPFILE "${object}.d"
      COMMENT "Building CUDA object ${name}.o" VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set(${variable} "${objects}" PARENT_SCOPE)
endfunction()
