/** What a sandbox process never needs, and what kernels have most often been broken by. */
export const DENIED_SYSCALLS = {
  // Other processes: looking into them, changing them, holding on to them.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  // New processes; `clone` is judged by its flags.
  fork: [57],
  vfork: [58],
  execveat: [322, 281],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  mknod: [133],
  mknodat: [259, 33],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  // Programs inside the kernel, and its keys.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  vmsplice: [278, 75],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  vhangup: [153, 58],
  personality: [135, 92],
  iopl: [172],
  ioperm: [173],
  modify_ldt: [154],
  // Memory of other nodes, and shared memory of System V and POSIX.
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
} as const satisfies Record<string, Numbers>

/** Those that libraries try first and do without where a kernel is too old to have them. */
export const ABSENT_SYSCALLS = {
  // Its flags are in memory, where a filter cannot look: threads are made by `clone` then.
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
} as const satisfies Record<string, Numbers>

/** Those that are judged by their first argument. */
export const JUDGED_SYSCALLS = {
  clone: [56, 220],
  socket: [41, 198],
} as const satisfies Record<string, Numbers>

export type Architecture = 'x64' | 'arm64'

/** <linux/audit.h> */
const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const

/** <linux/seccomp.h>: what becomes of a call. The low half of `ERRNO` is the error. */
const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const ERRNO = 0x00050000
const EPERM = 1
const ENOSYS = 38

/** <linux/filter.h>: load a word, jump if equal, if greater or equal, if any bit is set, and return. */
const LOAD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_GREATER_EQUAL = 0x35
const JUMP_BITS = 0x45
const RETURN = 0x06

/** Offsets in `struct seccomp_data`. */
const AT_NUMBER = 0
const AT_ARCHITECTURE = 4
const AT_FIRST_ARGUMENT = 16

/** The other set of numbers that an x86-64 kernel takes, x32, begins here. */
const X32 = 0x40000000
const AF_UNIX = 1
const CLONE_THREAD = 0x00010000

/** All that make a namespace, CLONE_NEWNS to CLONE_NEWNET. */
const CLONE_NAMESPACES = 0x7e020000

interface Instruction {
  readonly code: number
  readonly jumpTrue: number
  readonly jumpFalse: number
  readonly value: number
}

/** Numbers of one system call: on x86-64 and on arm64, which lacks some of the older ones. */
type Numbers = readonly [x64: number, arm64?: number]

export const architectureOf = (arch: string): Architecture | undefined =>
  arch === 'x64' || arch === 'arm64' ? arch : undefined

/**
 * A program for the kernel that refuses what a sandbox process never needs. Calls by another architecture's numbers end the process;
 * processes cannot be made, only threads; sockets can only be local ones. `execve` stays, since the process itself begins with it.
 */
export function seccompFilter(architecture: Architecture): Buffer {
  const of = (table: Readonly<Record<string, readonly number[]>>): number[] =>
    Object.values(table).flatMap((numbers) => numbers[architecture === 'x64' ? 0 : 1] ?? [])
  const [clone = 0, socket = 0] = of(JUDGED_SYSCALLS)
  const program = [
    instruction(LOAD, AT_ARCHITECTURE),
    jump(JUMP_EQUAL, AUDIT_ARCH[architecture], [1, 0]),
    instruction(RETURN, KILL_PROCESS),
    instruction(LOAD, AT_NUMBER),
    ...answerWhen(JUMP_GREATER_EQUAL, X32, EPERM),
    ...of(DENIED_SYSCALLS).flatMap((number) => answerWhen(JUMP_EQUAL, number, EPERM)),
    ...of(ABSENT_SYSCALLS).flatMap((number) => answerWhen(JUMP_EQUAL, number, ENOSYS)),
    // A thread, and not one with a namespace of its own.
    ...judged(clone, [
      jump(JUMP_BITS, CLONE_THREAD, [0, 1]),
      jump(JUMP_BITS, CLONE_NAMESPACES, [0, 1]),
    ]),
    ...judged(socket, [jump(JUMP_EQUAL, AF_UNIX, [1, 0])]),
    instruction(RETURN, ALLOW),
  ]
  return Buffer.concat(program.map(encoded))
}

const instruction = (code: number, value: number): Instruction => ({
  code,
  jumpTrue: 0,
  jumpFalse: 0,
  value,
})

/** `skips` are how many instructions are left out when it holds, and when it does not. */
const jump = (
  code: number,
  value: number,
  [jumpTrue, jumpFalse]: readonly [number, number],
): Instruction => ({ code, jumpTrue, jumpFalse, value })

const answerWhen = (code: number, value: number, error: number): Instruction[] => [
  jump(code, value, [0, 1]),
  instruction(RETURN, ERRNO | error),
]

/** Loads the first argument; `checks` end at the refusal, or one behind it to allow. */
const judged = (number: number, checks: readonly Instruction[]): Instruction[] => [
  jump(JUMP_EQUAL, number, [0, checks.length + 3]),
  instruction(LOAD, AT_FIRST_ARGUMENT),
  ...checks,
  instruction(RETURN, ERRNO | EPERM),
  instruction(RETURN, ALLOW),
]

/** `struct sock_filter`, in the byte order of both architectures. */
function encoded({ code, jumpTrue, jumpFalse, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(jumpTrue, 2)
  bytes.writeUInt8(jumpFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
