/** One call that a traced process made and that succeeded. */
export interface SystemCall {
  readonly name: string
  /** As strace writes them. */
  readonly args: string
  /** Without surrounding quotes, in their order: paths, and the first bytes of what is written. */
  readonly strings: readonly string[]
  readonly result: number
  /** The file behind the descriptor that is the first argument, or that is returned. */
  readonly file: string | undefined
  /** Lines of the log. What other threads did in between may have come before this call or after it. */
  readonly begun: number
  readonly ended: number
  readonly beganMs: number
}

const LINE = /^(\d+) +(\d+\.\d+) (.*)$/
const RESUMED = /^<\.\.\. \w+ resumed>(.*)$/
const UNFINISHED = ' <unfinished ...>'
const CALL = /^(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?: |$)/s
const DESCRIPTOR = /^\d+<(.*?)>(\(deleted\))?(?:,|$)/s
const STRING = /"((?:[^"\\]|\\.)*)"/gs
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  v: '\v',
  f: '\f',
}

interface Begun {
  readonly text: string
  readonly line: number
  readonly beganMs: number
}

/** Reads a log of `strace -f -ttt -yy` in the order in which the calls returned. */
export function parseCalls(log: string): SystemCall[] {
  const unfinished = new Map<string, Begun>()
  return log.split('\n').flatMap((text, line) => {
    const [, thread = '', seconds = '', rest = ''] = LINE.exec(text) ?? []
    const begun = { text: rest, line, beganMs: Number(seconds) * 1000 }
    if (rest.endsWith(UNFINISHED)) {
      unfinished.set(thread, { ...begun, text: rest.slice(0, -UNFINISHED.length) })
      return []
    }
    const tail = RESUMED.exec(rest)?.[1]
    if (tail === undefined) return parseCall(begun, line)
    const former = unfinished.get(thread)
    return former === undefined ? [] : parseCall({ ...former, text: former.text + tail }, line)
  })
}

/** Nothing for a call that failed, and for lines that are none. */
function parseCall({ text, line, beganMs }: Begun, ended: number): SystemCall | [] {
  const [, name = '', args = '', returned = '', opened] = CALL.exec(text) ?? []
  const result = Number(returned)
  if (name === '' || result < 0) return []
  const file = opened ?? describedFile(args)
  return {
    name,
    args,
    strings: [...args.matchAll(STRING)].map(([, string = '']) => bytesOf(string).toString()),
    result,
    file: file === undefined ? undefined : bytesOf(file).toString(),
    begun: line,
    ended,
    beganMs,
  }
}

/** Undefined for one that has no name any more. */
function describedFile(args: string): string | undefined {
  const [, file, deleted] = DESCRIPTOR.exec(args) ?? []
  return deleted === undefined ? file : undefined
}

/** What a call wrote; undefined where the log has only the beginning. */
export function writtenBytes({ args, result }: SystemCall): Buffer | undefined {
  const parts = [...args.matchAll(STRING)].map(([, string = '']) => bytesOf(string))
  const bytes = Buffer.concat(parts)
  return bytes.byteLength < result ? undefined : bytes.subarray(0, result)
}

/** Bytes that are no text are written as octal numbers. */
function bytesOf(text: string): Buffer {
  const bytes = text.replaceAll(/\\(?:([0-7]{1,3})|(.))/gs, (_all, octal?: string, char = '') =>
    octal === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(octal, 8)),
  )
  return Buffer.from(bytes, 'latin1')
}
