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
  find_package(CUDAToolkit REQUIRED)
  # One binary for every GPU that the toolkit knows: machine code for these, PTX for later ones.
  # sm_60 and sm_70 are for a CUDA 12 toolkit and have to be asked for; our kernels use no tensor
  # cores there.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  endif()
  foreach(architecture ${CMAKE_CUDA_ARCHITECTURES})
    if(NOT architecture MATCHES "^([0-9]+)")  # native, all, all-major
      continue()
    endif()
    if(CMAKE_MATCH_1 LESS 60)
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: ${architecture} is too old, 60 is the oldest")
    elseif(CMAKE_MATCH_1 LESS 75 AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: ${architecture} needs a CUDA 12 toolkit, this "
                          "one is ${CUDAToolkit_VERSION} and builds for 75 and newer")
    endif()
  endforeach()
  enable_language(CUDA)
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
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Wno-deprecated-gpu-targets;-Xcudafe;--diag_suppress=940;-Xcompiler;-Wall,-Wextra;-Xptxas;-warn-spills,-warn-lmem-usage>"
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-sign-conversion>")
  if(ACGAN_WERROR)
    target_compile_options(acgan_cuda_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:-Werror;all-warnings;-Xptxas;-Werror>"
      "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
  endif()
  message(STATUS "CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
endif()
