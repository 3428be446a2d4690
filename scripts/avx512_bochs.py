#!/usr/bin/env python3
"""Runs programs on an emulated CPU with AVX-512, for machines that have none.

usage: avx512_bochs.py VMLINUZ PROGRAM [ARGUMENT]... [-- PROGRAM [ARGUMENT]...]...

Boots the Linux kernel VMLINUZ in Bochs (CPU model corei7_skylake_x) with an initramfs that
holds the programs and their shared libraries, and prints what they wrote. Exit status 0 if
every program ended with 0. A kernel starts in some minutes. Needs (Debian): bochs,
bochs-term, vgabios, syslinux, mtools, gcc. The image is made in a temporary folder.
"""
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import time

CYLINDERS, HEADS, SECTORS = 160, 16, 63
LIMIT_S = int(os.environ.get("BOCHS_LIMIT_S", "1800"))

INIT = r"""
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>
static int run(char **argv)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        execv(argv[0], argv);
        _exit(127);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}
int main(void)
{
    static char *programs[][16] = {PROGRAMS};
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        printf("RUN %s\n", programs[i][0]);
        fflush(stdout);
        printf("STATUS %d\n", run(programs[i]));
        fflush(stdout);
    }
    printf("END\n");
    fflush(stdout);
    sleep(1);
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}
"""


def newc(entries):
    """A cpio archive of (name, mode, bytes), format newc."""
    out = b""
    for number, (name, mode, data) in enumerate(entries + [("TRAILER!!!", 0, b"")]):
        fields = [number + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return out


def libraries(program):
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", text)


def initramfs(folder, commands):
    files = {}
    for command in commands:
        for path in [command[0]] + libraries(command[0]):
            with open(path, "rb") as f:
                files[path] = f.read()
    rows = ",".join("{" + ",".join(f'"{word}"' for word in c) + "}" for c in commands)
    source = os.path.join(folder, "init.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(INIT.replace("PROGRAMS", rows))
    subprocess.run(["gcc", "-static", "-O1", "-o", folder + "/init", source], check=True)
    with open(folder + "/init", "rb") as f:
        files["/init"] = f.read()
    folders = set()
    for path in files:
        while path := os.path.dirname(path):
            if path == "/":
                break
            folders.add(path)
    entries = [(f[1:], 0o40755, b"") for f in sorted(folders)]
    entries += [(f[1:], 0o100755, files[f]) for f in sorted(files)]
    return newc(entries)


def disk(folder, vmlinuz, archive):
    image = os.path.join(folder, "disk.img")
    with open(folder + "/initrd", "wb") as f:
        f.write(archive)
    with open(folder + "/syslinux.cfg", "w", encoding="ascii") as f:
        f.write("DEFAULT a\nPROMPT 0\nLABEL a\n KERNEL vmlinuz\n APPEND initrd=initrd "
                "console=ttyS0 earlyprintk=serial,ttyS0 mitigations=off nosmp "
                "clearcpuid=321,323,515\n")  # PKU, XSAVEC and XSAVES: wrong sizes in Bochs 2.7
    with open(image, "wb") as f:
        f.truncate(CYLINDERS * HEADS * SECTORS * 512)
    subprocess.run(["mformat", "-i", image, "-t", str(CYLINDERS), "-h", str(HEADS), "-s",
                    str(SECTORS), "::"], check=True)
    for name, path in (("vmlinuz", vmlinuz), ("initrd", folder + "/initrd"),
                       ("syslinux.cfg", folder + "/syslinux.cfg")):
        subprocess.run(["mcopy", "-i", image, path, "::" + name], check=True)
    subprocess.run(["syslinux", "--install", image], check=True)
    return image


def drain(terminal):
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


def drain_screen(pid):
    """Bochs' text screen is a terminal of its own; it stops when nobody reads it."""
    for _ in range(100):
        time.sleep(0.1)
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
                index = re.search(r"^tty-index:\s*(\d+)", f.read(), re.M)
            if index:
                drain(os.open("/dev/pts/" + index[1], os.O_RDONLY | os.O_NOCTTY))
                return


def emulate(folder, image):
    serial = os.path.join(folder, "serial.txt")
    with open(folder + "/bochsrc", "w", encoding="ascii") as f:
        f.write(f"""display_library: term
megs: 512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
cpu: model=corei7_skylake_x, count=1, ips=50000000, reset_on_triple_fault=0
ata0-master: type=disk, mode=flat, path={image}, cylinders={CYLINDERS}, heads={HEADS}, \
spt={SECTORS}
boot: disk
com1: enabled=1, mode=file, dev={serial}
log: {folder}/bochs.log
panic: action=fatal
""")
    with open(folder + "/commands", "w", encoding="ascii") as f:
        f.write("c\n")  # builds with a debugger wait for it
    master, slave = pty.openpty()  # the text screen; what counts comes over the serial line
    bochs = subprocess.Popen(["bochs-bin", "-q", "-f", folder + "/bochsrc", "-rc",
                              folder + "/commands"], stdin=slave,
                             stdout=slave, stderr=slave, env=dict(os.environ, TERM="xterm"))
    os.close(slave)
    threading.Thread(target=drain, args=(master,), daemon=True).start()
    threading.Thread(target=drain_screen, args=(bochs.pid,), daemon=True).start()
    text = ""
    try:
        for _ in range(LIMIT_S):
            if os.path.exists(serial):
                with open(serial, encoding="utf-8", errors="replace") as f:
                    text = f.read()
            if "\nEND" in text.replace("\r", "") or bochs.poll() is not None:
                break
            try:
                bochs.wait(1)
            except subprocess.TimeoutExpired:
                pass
    finally:
        bochs.kill()
        bochs.wait()
    return text.replace("\r", "")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    commands, words = [[]], sys.argv[2:]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(os.path.abspath(word) if not commands[-1] else word)
    with tempfile.TemporaryDirectory() as folder:
        image = disk(folder, sys.argv[1], initramfs(folder, commands))
        text = emulate(folder, image)
        if os.environ.get("BOCHS_LOG"):
            with open(folder + "/bochs.log", encoding="utf-8", errors="replace") as f:
                print(f.read()[-6000:])
    print(text)
    done = re.findall(r"^STATUS (-?\d+)$", text, re.M)
    sys.exit(0 if len(done) == len(commands) and not any(int(s) for s in done) else 1)


main()
