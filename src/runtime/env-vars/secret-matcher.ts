/** Shorter values are words that any text may hold. */
const MIN_LENGTH = 8
const HEAD = 8
/** What a line that was cut may end with. */
const CUT = /(?:… \[line cut\])?$/

export interface Secret {
  readonly name: string
  readonly value: string
}

/** Finds the values of secrets in text, as they are and as they are commonly written: JSON, console, base64, URL, form. */
export interface SecretMatcher {
  /** The text with `[secret NAME]` in place of each. A value that the text's end cuts off is found from 8 characters on. */
  redact(text: string): string
}

/** Undefined when no secret is long enough to be looked for. */
export function secretMatcher(secrets: Iterable<Secret>): SecretMatcher | undefined {
  const words = new Map<string, string>()
  for (const { name, value } of secrets) {
    if (value.length < MIN_LENGTH) continue
    for (const form of formsOf(value)) words.set(form, `[secret ${name}]`)
  }
  if (words.size === 0) return undefined
  // A value that holds another one goes first.
  const ordered = [...words].toSorted(([a], [b]) => b.length - a.length)
  const heads = new Set(ordered.map(([form]) => form.slice(0, HEAD)))
  // One pass decides for nearly every text that there is nothing to do.
  const any = new RegExp([...heads].map(escaped).join('|'))
  return { redact: (text) => (any.test(text) ? replaceAll(text, ordered) : text) }
}

function formsOf(value: string): Set<string> {
  const bytes = Buffer.from(value)
  const json = JSON.stringify(value).slice(1, -1)
  const forms = [
    value,
    json,
    // As the console shows a text inside an object: in quotes that the text does not hold.
    json.replaceAll(String.raw`\"`, '"'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    encodeURIComponent(value),
    new URLSearchParams([['', value]]).toString().slice(1),
  ]
  return new Set(forms.filter((form) => form.length >= MIN_LENGTH))
}

function replaceAll(text: string, words: readonly (readonly [string, string])[]): string {
  let rest = text
  for (const [form, word] of words) {
    if (!rest.includes(form.slice(0, HEAD))) continue
    rest = withoutTail(
      rest.replaceAll(form, () => word),
      form,
      word,
    )
  }
  return rest
}

/** What was printed is cut at its bound, perhaps inside a secret. */
function withoutTail(text: string, form: string, word: string): string {
  const head = form.slice(0, HEAD)
  const end = text.search(CUT)
  for (
    let at = text.indexOf(head, Math.max(0, end - form.length));
    at !== -1 && at <= end - HEAD;
    at = text.indexOf(head, at + 1)
  ) {
    if (form.startsWith(text.slice(at, end))) return text.slice(0, at) + word + text.slice(end)
  }
  return text
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
