import { slice } from '#sandbox/guest/web/primordials.ts'

/** Records of `FromGuest`, collected until the host takes them. Strings only: site code can hook arrays. */
let heads = ''
let body = ''

/** `head` is the character code of the kind and the numbers: `82,12`. */
export function emit(head: string, first?: string, second?: string, third?: string): void {
  let line = head
  if (first !== undefined) {
    line += `,${first.length}`
    body += first
  }
  if (second !== undefined) {
    line += `,${second.length}`
    body += second
  }
  if (third !== undefined) {
    line += `,${third.length}`
    body += third
  }
  heads += `,${line}`
}

export function takeOutput(first: string): string {
  const text = `${first}${heads}\n${body}`
  heads = ''
  body = ''
  return text
}

export const cut = (text: string, length: number): string =>
  text.length > length ? slice(text, 0, length) : text
