#!/usr/bin/env python3
"""Is the machine code of the CUDA kernels what it was written to be?

Reads the code of every architecture in the CUDA module, without a disassembler, and checks:
tensor-core convolutions use tensor cores, ldmatrix and (sm_80 and newer, 16-byte access)
asynchronous copies; no kernel keeps anything in local memory; registers and shared memory leave
room for as many blocks on a multiprocessor as the kernel is written for.

usage: check_compiled_kernels.py libacgan_cuda.so"""
import re
import struct
import sys

# From Volta to Blackwell an instruction has 16 bytes, its opcode in the lowest 12 bits. The codes
# were found by compiling small kernels; VERIFIED are the architectures where that was done.
OPCODES = {0x23C: "HMMA", 0x83B: "LDSM", 0xFAE: "LDGSTS", 0x387: "STL", 0x983: "LDL"}
VERIFIED = {75, 80, 86, 89, 90, 100, 120}
MACHINE_CUDA = 190

# Of one multiprocessor: registers, and shared memory in KiB (CUDA programming guide, "Technical
# Specifications per Compute Capability"). From sm_80 on a block takes 1 KiB more than it asks for.
REGISTERS = 65536
SHARED_KIB = {75: 64, 80: 164, 86: 100, 87: 164, 89: 100, 90: 228,
              100: 228, 103: 228, 120: 100, 121: 100}

FRAME_SIZE, REGISTER_COUNT = 0x11, 0x2F  # attributes in .nv.info: (symbol, value)


class Kernel:
    def __init__(self, architecture, name, code):
        self.architecture, self.name = architecture, name
        self.opcodes = {}
        for (word,) in struct.iter_unpack("<I12x", code[: len(code) // 16 * 16]):
            opcode = OPCODES.get(word & 0xFFF)
            if opcode:
                self.opcodes[opcode] = self.opcodes.get(opcode, 0) + 1
        self.registers = self.frame = None
        tile = re.search(r"ProductTileILi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)E", name)
        self.tile = tuple(map(int, tile.groups())) if tile else None
        access = re.search(r"AccessE(\d)", name)
        self.vector = access is not None and access.group(1) == "0"
        kind = re.search(r"\d(conv_(?:forward|(thin_)?backward_data|backward_weight)_kernel)", name)
        self.kind = kind.group(1) if kind else None  # of those on tensor cores

    def __str__(self):
        if self.kind is None:
            return f"sm_{self.architecture} {self.name}"
        element = "fp16" if re.search(r"N?S?_?4Half", self.name) else "bf16"
        size = "x".join(map(str, self.tile[:2])) if self.tile else ""
        access = "vector" if self.vector else "element"
        return f"sm_{self.architecture} {self.kind} {size} {element} {access}"


def read_cubin(data, start):
    """The kernels of the ELF file at `start`, or none where it is not CUDA's."""
    if struct.unpack_from("<H", data, start + 18)[0] != MACHINE_CUDA:
        return []
    architecture = struct.unpack_from("<I", data, start + 48)[0] >> 8 & 0xFF
    (table,) = struct.unpack_from("<Q", data, start + 40)
    size, count, names = struct.unpack_from("<HHH", data, start + 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + table + i * size)
               for i in range(count)]

    def text(section, offset):
        begin = start + headers[section][4] + offset
        return data[begin : data.index(b"\0", begin)].decode()

    sections = {}
    for header in headers:
        begin = start + header[4]
        sections[text(names, header[0])] = (header, data[begin : begin + header[5]])
    kernels = {}
    for name, (_, content) in sections.items():
        if name.startswith(".text."):
            kernels[name[6:]] = Kernel(architecture, name[6:], content)
    header, symbols = sections[".symtab"]
    symbol_names = [text(header[6], entry[0]) for entry in struct.iter_unpack("<IBBHQQ", symbols)]
    info, offset = sections[".nv.info"][1], 0
    while offset < len(info):
        form, attribute, value = struct.unpack_from("<BBH", info, offset)
        offset += 4
        if form != 4:  # the value is in the header itself
            continue
        if attribute in (FRAME_SIZE, REGISTER_COUNT):
            symbol, number = struct.unpack_from("<II", info, offset)
            kernel = kernels.get(symbol_names[symbol])
            if kernel and attribute == FRAME_SIZE:
                kernel.frame = number
            elif kernel:
                kernel.registers = number
        offset += value
    return list(kernels.values())


def read_kernels(path):
    data = open(path, "rb").read()
    return [kernel for match in re.finditer(rb"\x7fELF\x02\x01\x01", data) if match.start()
            for kernel in read_cubin(data, match.start())]


def stated_blocks(kernel):
    """Threads of a block, and the blocks for a multiprocessor, as cuda/tile/tensor_core_product.cuh
    (ProductTile), conv_backward_weight.cu and conv_thin_backward_data.cu in cuda/kernels/ say."""
    if kernel.tile is None:
        return 256, 2
    m, n, warps_m, warps_n = kernel.tile
    threads = 32 * warps_m * warps_n
    if threads < 256:
        by_element = kernel.kind == "conv_backward_weight_kernel" and not kernel.vector
        return threads, 2 if by_element else 3
    return threads, 1 if m * n > 8192 and kernel.architecture < 80 else 2


def check_occupancy(kernel, complain):
    threads, blocks = stated_blocks(kernel)
    registers = (kernel.registers + 7) // 8 * 8 * threads  # given out to warps in units of 256
    if blocks * registers > REGISTERS:
        complain(f"{kernel}: {kernel.registers} registers leave no room for {blocks} blocks")
    shared_kib = SHARED_KIB.get(kernel.architecture)
    if kernel.tile is None or shared_kib is None:
        return  # the thin kernel's shared memory depends on the shape
    # As kPipelineStages in cuda/tile/mma.cuh.
    stages = 2 if kernel.architecture < 80 else 3 if SHARED_KIB[kernel.architecture] == 100 else 4
    own_kib = stages * (kernel.tile[0] + kernel.tile[1]) * 32 * 2 / 1024
    own_kib += 1 if kernel.architecture >= 80 else 0
    if blocks * own_kib <= shared_kib:
        return
    fitting = int(shared_kib // own_kib)
    complain(f"{kernel}: {shared_kib} KiB of shared memory hold {fitting} of {blocks} blocks")


def check(kernel, complain):
    if kernel.registers is None or kernel.frame is None:
        return complain(f"{kernel}: its registers or frame are not in .nv.info")
    if kernel.frame != 0 or "STL" in kernel.opcodes or "LDL" in kernel.opcodes:
        complain(f"{kernel}: uses local memory ({kernel.frame} bytes; {kernel.opcodes})")
    if kernel.kind is None:
        return
    needed = ["HMMA", "LDSM"]
    if kernel.vector and kernel.architecture >= 80:
        needed.append("LDGSTS")
    for opcode in needed:
        if opcode not in kernel.opcodes:
            complain(f"{kernel}: has no {opcode}")
    check_occupancy(kernel, complain)


def main(path):
    faults = []
    kernels = read_kernels(path)
    architectures = sorted({kernel.architecture for kernel in kernels})
    if not kernels:
        faults.append("no machine code was found; is it compressed (nvcc --no-compress)?")
    for kernel in kernels:
        check(kernel, faults.append)
    for architecture in architectures:
        own = [kernel for kernel in kernels if kernel.architecture == architecture]
        tensor = [kernel for kernel in own if kernel.kind]
        kinds = {kernel.kind for kernel in tensor}
        total = ", ".join(f"{sum(kernel.opcodes.get(name, 0) for kernel in tensor)} {name}"
                          for name in ("HMMA", "LDSM", "LDGSTS"))
        print(f"sm_{architecture}: {len(own)} kernels, {len(tensor)} on tensor cores: {total}",
              "" if architecture in VERIFIED else "(opcodes not verified for this architecture)")
        if len(kinds) != 4:
            faults.append(f"sm_{architecture}: on tensor cores are {sorted(kinds)}, not all four")
    for fault in faults:
        print("FAILED:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
