# Helpers that keep the CMakeLists.txt of the rooms to a few lines each.
#
#   cuzk_room(NAME SOURCES a.c ... [FLAVOURED b.c ...] [DEPENDS room ...] [LIBS target ...])
#
# SOURCES are compiled once. FLAVOURED files hold bulk field arithmetic: each is compiled once for
# portable C and, on x86-64, once more for MULX/ADX (see src/field/flavour.h), with every external
# name suffixed by the flavour. DEPENDS names rooms above this one.
#
#   cuzk_test(NAME SOURCES x_test.c ... [ROOMS room ...] [LIBS target ...] [TIMEOUT s] [LABELS label ...])
#   cuzk_bench(NAME SOURCES x_bench.c ... [ROOMS room ...])
#   cuzk_fuzz(NAME SOURCES x_fuzz.c ... [ROOMS room ...] [SEEDS file ...])
#
# Labels: `threads` for what uses the pool (run under ThreadSanitizer too; the target thread_tests builds these
# alone), `slow` for what proves whole sectors (not under sanitizers), `full` for what takes minutes (only in
# tools/check --full).

set(CUZK_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Werror)
set(CUZK_WARNINGS_C -Wstrict-prototypes -Wmissing-prototypes)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(CUZK_X86_64 ON)
else()
  set(CUZK_X86_64 OFF)
endif()

add_library(cuzk_options INTERFACE)
target_compile_options(cuzk_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:${CUZK_WARNINGS}>
  $<$<COMPILE_LANGUAGE:C>:${CUZK_WARNINGS_C}>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
target_compile_definitions(cuzk_options INTERFACE _GNU_SOURCE $<$<BOOL:${CUZK_X86_64}>:CUZK_X86_64=1>)
target_include_directories(cuzk_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
if(CUZK_SANITIZE)
  # GCC's data flow at -O1, and with instrumentation in between, sees less than in the release build, which has this warning.
  target_compile_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE} -fno-sanitize-recover=all
    $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE})
endif()
# For source files of bulk arithmetic. They know no threads: they compute on ranges that their callers own, whose tasks
# are watched. Watched themselves, they would make up nine tenths of the time under ThreadSanitizer.
set(CUZK_ARITHMETIC_OPTIONS "")
if(CUZK_SANITIZE STREQUAL "thread")
  set(CUZK_ARITHMETIC_OPTIONS -fno-sanitize=thread)
endif()

if(CUZK_FUZZ) # the fuzzer sees which branches of the rooms an input takes
  target_compile_options(cuzk_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
endif()

function(cuzk_room name)
  cmake_parse_arguments(R "" "" "SOURCES;FLAVOURED;DEPENDS;LIBS" ${ARGN})
  set(objects "")
  if(R_FLAVOURED)
    set(flavours portable)
    if(CUZK_X86_64)
      list(APPEND flavours adx)
    endif()
    foreach(flavour ${flavours})
      add_library(room_${name}_${flavour} OBJECT ${R_FLAVOURED})
      target_link_libraries(room_${name}_${flavour} PRIVATE cuzk_options)
      target_compile_definitions(room_${name}_${flavour} PRIVATE
        CUZK_FLAVOUR_SUFFIX=_${flavour} CUZK_FLAVOUR_${flavour}=1)
      if(flavour STREQUAL "adx")
        target_compile_options(room_${name}_${flavour} PRIVATE $<$<COMPILE_LANGUAGE:C>:-mbmi2 -madx>)
      endif()
      list(APPEND objects $<TARGET_OBJECTS:room_${name}_${flavour}>)
    endforeach()
    if(CUZK_ARITHMETIC_OPTIONS)
      set_source_files_properties(${R_FLAVOURED} PROPERTIES COMPILE_OPTIONS "${CUZK_ARITHMETIC_OPTIONS}")
    endif()
  endif()
  add_library(room_${name} STATIC ${R_SOURCES} ${objects})
  target_link_libraries(room_${name} PUBLIC cuzk_options)
  foreach(dep ${R_DEPENDS})
    target_link_libraries(room_${name} PUBLIC room_${dep})
  endforeach()
  if(R_LIBS)
    target_link_libraries(room_${name} PUBLIC ${R_LIBS})
  endif()
endfunction()

function(cuzk_program_of kind name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;ROOMS;LIBS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE cuzk_options)
  foreach(room ${T_ROOMS})
    target_link_libraries(${name} PRIVATE room_${room})
  endforeach()
  target_link_libraries(${name} PRIVATE ${T_LIBS})
endfunction()

add_custom_target(thread_tests)
function(cuzk_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;ROOMS;LIBS;LABELS" ${ARGN})
  cuzk_program_of(test ${name} SOURCES ${T_SOURCES} ROOMS ${T_ROOMS} LIBS ${T_LIBS} PkgConfig::CMOCKA)
  target_compile_definitions(${name} PRIVATE CUZK_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
  if(T_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}")
    if("threads" IN_LIST T_LABELS)
      add_dependencies(thread_tests ${name})
    endif()
  endif()
endfunction()

# A part of a test's program that is a test of its own: `PROGRAM OPTION`.
function(cuzk_test_part name program option)
  cmake_parse_arguments(T "" "TIMEOUT;LABEL" "" ${ARGN})
  add_test(NAME ${name} COMMAND ${program} ${option})
  set_tests_properties(${name} PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT})
  if(T_LABEL STREQUAL "threads")
    add_dependencies(thread_tests ${program})
  endif()
endfunction()

function(cuzk_bench name)
  cuzk_program_of(bench ${name} ${ARGN})
  target_compile_definitions(${name} PRIVATE CUZK_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
endfunction()

# Every target starts from a corpus: the folder fuzz/corpus/NAME and what SEEDS names, gathered beside the program in
# NAME_seeds. The target fuzz_targets builds all of them.
add_custom_target(fuzz_targets)
function(cuzk_fuzz name)
  cmake_parse_arguments(F "" "" "SOURCES;ROOMS;LIBS;SEEDS" ${ARGN})
  cuzk_program_of(fuzz ${name} SOURCES ${F_SOURCES} ROOMS ${F_ROOMS} LIBS ${F_LIBS})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_targets ${name})
  if(EXISTS ${CMAKE_SOURCE_DIR}/fuzz/corpus/${name})
    list(APPEND F_SEEDS ${CMAKE_SOURCE_DIR}/fuzz/corpus/${name})
  endif()
  if(NOT F_SEEDS)
    message(FATAL_ERROR "fuzz target ${name} has no corpus: put files into fuzz/corpus/${name}, or name some as SEEDS")
  endif()
  foreach(seed ${F_SEEDS})
    file(COPY ${seed} DESTINATION ${CMAKE_CURRENT_BINARY_DIR}/${name}_seeds) # libFuzzer also walks folders in it
  endforeach()
endfunction()
