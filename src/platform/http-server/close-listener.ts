import { type Libc, openLibc } from './libc.ts'

const MAX_FD = 4096
const AF_INET = 2
const SOCK_STREAM = 1
/** SOL_SOCKET and SO_ACCEPTCONN, which the systems number differently. */
const ACCEPTS: readonly [level: number, option: number] =
  process.platform === 'darwin' ? [0xff_ff, 2] : [1, 30]

/**
 * Closes the listening socket under a running server and leaves its connections alone, which Bun does not offer: its
 * own stop cuts every connection that is idle at that instant, and with it the requests on their way. An unused socket takes
 * the place of the descriptor; the runtime closes that one later. Does nothing where the system does not allow it.
 */
export function closeListener(port: number): void {
  try {
    const libc = openLibc()
    const listener = listenerOf(port, libc)
    if (listener === undefined) return
    const unused = libc.socket(AF_INET, SOCK_STREAM, 0)
    if (unused < 0) return
    libc.dup2(unused, listener)
    libc.close(unused)
  } catch {
    // Windows, or no permission for foreign functions: the caller drains without this.
  }
}

function listenerOf(port: number, libc: Libc): number | undefined {
  const flag = new Int32Array(1)
  const length = new Int32Array(1)
  const address = new Uint8Array(128)
  for (let fd = 3; fd < MAX_FD; fd++) {
    length[0] = flag.byteLength
    if (libc.getsockopt(fd, ...ACCEPTS, flag, length) !== 0 || flag[0] === 0) continue
    length[0] = address.byteLength
    if (libc.getsockname(fd, address, length) !== 0) continue
    // The port, in network order, follows the two bytes of the family in IPv4 and IPv6 alike.
    if (new DataView(address.buffer).getUint16(2) === port) return fd
  }
  return undefined
}
