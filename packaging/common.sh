# SPDX-License-Identifier: MIT
# Shared by the scripts of this folder that write packages for game engines. A script sources it, has a function own_option, and calls take_options.

root=$(cd "$(dirname "$0")/.." && pwd)
output=$root/build/$(basename "$0" .sh) flatbuffers=/usr/include
targets=()
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# take_options WORD...: sets output, flatbuffers and targets. Other options, which have a value, go to own_option; it fails for those that it does not know.
take_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --output) output=$2; shift ;;
      --flatbuffers) flatbuffers=$2; shift ;;
      -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;  # the comment at the top of the script
      -*) own_option "$@" || die "what is $1? See --help"; shift ;;
      *) targets+=("$1") ;;
    esac
    shift
  done
}

# Sets licence to the file of FlatBuffers' licence.
find_licence() {
  [ -f "$flatbuffers/flatbuffers/base.h" ] || die "$flatbuffers has no flatbuffers/base.h: install libflatbuffers-dev, or name its folder with --flatbuffers"
  licence=/usr/share/common-licenses/Apache-2.0  # Debian has it; a source or package of FlatBuffers has it beside its include folder
  [ -f "$flatbuffers/../LICENSE" ] && licence=$flatbuffers/../LICENSE
  [ -f "$licence" ] || die "the licence of FlatBuffers is not found: put it at $flatbuffers/../LICENSE"
}

# Print the command of zig, and of mingw's compiler, for a target; mingw's is empty where there is none.
find_zig() {
  if [ -n "${NSK_ZIG:-}" ]; then echo "$NSK_ZIG"
  elif command -v zig > /dev/null; then echo zig
  elif python3 -m ziglang version > /dev/null 2>&1; then echo python3 -m ziglang
  else die "$1 needs zig (pip install ziglang)"; fi
}
find_mingw() { command -v x86_64-w64-mingw32-g++-posix || command -v x86_64-w64-mingw32-g++ || true; }
need_mingw() { die "$1 needs mingw (apt install g++-mingw-w64-x86-64-posix)"; }

# delete_import_libraries FOLDER: zig leaves them beside its libraries.
delete_import_libraries() { find "$1" \( -name '*.lib' -o -name '*.pdb' \) -delete; }

# pack FOLDER ARCHIVE: both are inside of the output folder. The same files give the same bytes.
pack() {
  local archive=$output/$2
  tar --create --directory "$output" --sort=name --mtime='2026-01-01 00:00:00Z' --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar "$1" | gzip -n -9 > "$archive"
  printf '%s: %s bytes\n' "$archive" "$(stat -c %s "$archive")"
}
