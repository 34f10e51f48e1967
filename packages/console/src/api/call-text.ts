/** A call of the API, as a person would write it. */
export interface ShownCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With names in braces. */
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** The command of `croft` that does the same, where there is one. */
  readonly command?: string
}

/** A line for a shell. The token is in the variable `CROFT_TOKEN`. */
export function curlOf(call: ShownCall, origin: string): string {
  const parts = [`curl`]
  if (call.method !== 'GET') parts.push(`-X ${call.method}`)
  parts.push(quoted(urlOf(call, origin)), '-H "Authorization: Bearer $CROFT_TOKEN"')
  if (call.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(call.body))}`)
  }
  return parts.join(' \\\n  ')
}

/** A call of the SDK, with its imports. */
export function sdkOf(call: ShownCall, origin: string): string {
  const query = writtenQuery(call)
  const input = {
    ...(call.params && { params: call.params }),
    ...(query.size > 0 && { query: Object.fromEntries(query) }),
    ...(call.body !== undefined && { body: call.body }),
  }
  const more = Object.keys(input).length === 0 ? '' : `, ${JSON.stringify(input, null, 2)}`
  return [
    `import { createClient } from 'croft-sdk'`,
    '',
    `const croft = createClient({ baseUrl: '${origin}', token })`,
    `await croft.admin.${call.method.toLowerCase()}('${call.path}'${more})`,
  ].join('\n')
}

function urlOf(call: ShownCall, origin: string): string {
  const path = call.path.replaceAll(/\{(\w+)\}/g, (all, name: string) => {
    const value = call.params?.[name]
    return value === undefined ? all : encodeURIComponent(value)
  })
  const query = writtenQuery(call)
  return origin + path + (query.size > 0 ? `?${query}` : '')
}

function writtenQuery({ query = {} }: ShownCall): URLSearchParams {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') written.set(name, String(value))
  }
  return written
}

/** For a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
