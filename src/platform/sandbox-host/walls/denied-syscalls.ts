/** Numbers of one system call: on x86-64 and on arm64, which lacks some of the older ones. */
type Numbers = readonly [x64: number, arm64?: number]

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
