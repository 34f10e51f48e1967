const MAX_BLOCK_BYTES = 256 * 1024
/** Of one field, with what is folded into it. */
const MAX_FIELD_LENGTH = 32 * 1024
/** RFC 5322 §3.6.8: printable characters without a colon; blanks before the colon are of old mailers. */
const FIELD = /^([!-9;-~]{1,200})[ \t]{0,20}:/
const NEWLINE = 10
const RETURN = 13

/** The fields of a header block, by name in lower case, in the order in which they came. */
export class HeaderFields {
  readonly #values = new Map<string, string[]>()

  add(name: string, value: string): void {
    const values = this.#values.get(name)
    if (values) values.push(value)
    else this.#values.set(name, [value])
  }

  /** Unfolded, neither decoded nor trimmed. */
  get(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }
}

/** Reads as much of the block as may be read: to the first empty line, at most 256 KiB. Lines that are no field are left out. */
export function readHeaderFields(start: Uint8Array): HeaderFields {
  const fields = new HeaderFields()
  let current: { name: string; value: string } | undefined
  const close = () => {
    if (current) fields.add(current.name, current.value)
    current = undefined
  }
  for (const line of textOf(headerBlock(start)).split(/\r\n|\n|\r/)) {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (current && current.value.length < MAX_FIELD_LENGTH) current.value += line
      continue
    }
    close()
    const [head, name] = FIELD.exec(line) ?? []
    if (head === undefined || name === undefined) continue
    current = { name: name.toLowerCase(), value: line.slice(head.length, MAX_FIELD_LENGTH) }
  }
  close()
  return fields
}

/** Everything before the first empty line, however lines end. */
function headerBlock(start: Uint8Array): Uint8Array {
  const end = Math.min(start.length, MAX_BLOCK_BYTES)
  let lineStart = 0
  for (let at = 0; at < end; at += 1) {
    if (start[at] !== NEWLINE) continue
    const isEmpty = at === lineStart || (at === lineStart + 1 && start[lineStart] === RETURN)
    if (isEmpty) return start.subarray(0, lineStart)
    lineStart = at + 1
  }
  return start.subarray(0, end)
}

/** UTF-8 (RFC 6532), or else what Windows made of it. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
