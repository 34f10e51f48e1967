import { TOKEN } from './webidl.ts'

/** A media type's essence in lower case, with its parameters: https://mimesniff.spec.whatwg.org/#parsing-a-mime-type */
export interface MediaType {
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

const ESSENCE =
  /^[ \t\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t\r\n]*(?:;|$)/
const PARAMETER = /;[ \t\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]+))/g

export function parseMediaType(text: string | null): MediaType | undefined {
  const [, essence] = ESSENCE.exec(text ?? '') ?? []
  if (text === null || essence === undefined) return undefined
  return { essence: essence.toLowerCase(), parameters: parseParameters(text) }
}

function parseParameters(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, bare] of text.matchAll(PARAMETER)) {
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? bare?.trimEnd()
    const key = name.toLowerCase()
    if (value !== undefined && !parameters.has(key)) parameters.set(key, value)
  }
  return parameters
}

export function serializeMediaType({ essence, parameters }: MediaType): string {
  let text = essence
  for (const [name, value] of parameters)
    text += `;${name}=${TOKEN.test(value) ? value : `"${value.replaceAll(/(["\\])/g, '\\$1')}"`}`
  return text
}
