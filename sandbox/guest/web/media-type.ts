/** A media type's essence in lower case, with its parameters: https://mimesniff.spec.whatwg.org/#parsing-a-mime-type */
export interface MediaType {
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

const ESSENCE =
  /^[ \t\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t\r\n]*(?:;|$)/
const PARAMETER = /;[ \t\r\n]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

export function parseMediaType(text: string | null): MediaType | undefined {
  const essence = text === null ? undefined : ESSENCE.exec(text)?.[1]
  if (text === null || essence === undefined) return undefined
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, bare = ''] of text.matchAll(PARAMETER)) {
    const value = quoted === undefined ? bare.trimEnd() : quoted.replaceAll(/\\(.)/g, '$1')
    const key = name.toLowerCase()
    if (!parameters.has(key) && (quoted !== undefined || value !== '')) parameters.set(key, value)
  }
  return { essence: essence.toLowerCase(), parameters }
}

export function serializeMediaType({ essence, parameters }: MediaType): string {
  let text = essence
  for (const [name, value] of parameters)
    text += `;${name}=${TOKEN.test(value) ? value : `"${value.replaceAll(/(["\\])/g, '\\$1')}"`}`
  return text
}
