# Sets ACGAN_HAS_CUDA and, where a toolkit was found, the target acgan_cuda_options.
include(CheckLanguage)
find_program(ACGAN_NVCC nvcc PATHS /usr/local/cuda/bin)
if(ACGAN_NVCC AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${ACGAN_NVCC})
endif()
check_language(CUDA)
set(ACGAN_HAS_CUDA OFF)
if(CMAKE_CUDA_COMPILER)
  set(ACGAN_HAS_CUDA ON)
elseif(ACGAN_CUDA STREQUAL "ON")
  message(FATAL_ERROR "ACGAN_CUDA=ON needs the CUDA toolkit: nvcc was not found; "
                      "set CMAKE_CUDA_COMPILER, or use ACGAN_CUDA=AUTO")
else()
  message(STATUS "no CUDA toolkit found: training runs on the CPU")
endif()

if(ACGAN_HAS_CUDA)
  # One binary for every GPU that the toolkit knows: machine code for these, PTX for later ones.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
  # CMake 3.25 does not know that nvcc 13 speaks C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  add_library(acgan_cuda_options INTERFACE)
  target_include_directories(acgan_cuda_options INTERFACE src ${PROJECT_SOURCE_DIR})
  target_link_libraries(acgan_cuda_options INTERFACE fmt::fmt)
  # 940: nvcc does not see that a failed check does not return.
  target_compile_options(acgan_cuda_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcudafe;--diag_suppress=940;-Xcompiler;-Wall,-Wextra;-Xptxas;-warn-spills,-warn-lmem-usage>"
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-sign-conversion>")
  if(ACGAN_WERROR)
    target_compile_options(acgan_cuda_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:-Werror;all-warnings;-Xptxas;-Werror>"
      "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
  endif()
  message(STATUS "CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
endif()
