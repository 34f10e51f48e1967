import { latin1FromBytes } from './base64.ts'
import { Blob, blobOf, blobBytes, File } from './blob.ts'
import { formEntries, FormData } from './form-data.ts'
import { hexFromBytes } from './hex.ts'
import { host } from './host.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

const CRLF = '\r\n'
const DASHES = '--'

/** https://html.spec.whatwg.org/#multipart-form-data: the bytes, with their content type. */
export function encodeMultipart(form: FormData): { bytes: Uint8Array<ArrayBuffer>; type: string } {
  const boundary = `----croft-${hexFromBytes(host.random(16))}`
  const parts: unknown[] = []
  for (const [name, value] of formEntries(form)) {
    const disposition = `--${boundary}${CRLF}Content-Disposition: form-data; name="${escapeName(normalizeLines(name))}"`
    if (typeof value === 'string') {
      parts.push(`${disposition}${CRLF}${CRLF}${normalizeLines(value)}${CRLF}`)
      continue
    }
    const type = value.type === '' ? 'application/octet-stream' : value.type
    const filename = escapeName(value.name)
    parts.push(
      `${disposition}; filename="${filename}"${CRLF}Content-Type: ${type}${CRLF}${CRLF}`,
      value,
      CRLF,
    )
  }
  parts.push(`--${boundary}--${CRLF}`)
  return { bytes: blobBytes(new Blob(parts)), type: `multipart/form-data; boundary=${boundary}` }
}

/** One parameter of a Content-Disposition field: its value is a quoted string or a token (RFC 2183 section 2, RFC 7578 section 4.2). */
const PARAMETER = /;[\t ]*([!#$%&'*+.^`|~\w-]+)=(?:"([^"]*)"|([^\s";]*))[\t ]*/y

/** Parts must be framed by CRLF and have a `name`; anything else is a TypeError. */
export function parseMultipart(bytes: Uint8Array<ArrayBuffer>, boundary: string): FormData {
  // One char per byte, so that what indexOf finds is an offset in bytes.
  const text = latin1FromBytes(bytes)
  const delimiter = latin1FromBytes(encodeUtf8(DASHES + boundary))
  const form = new FormData()
  let at = text.startsWith(CRLF) ? CRLF.length : 0
  if (!text.startsWith(delimiter, at)) throw malformed('does not start with its boundary')
  for (;;) {
    at += delimiter.length
    if (text.startsWith(DASHES, at)) return form
    if (!text.startsWith(CRLF, at)) throw malformed('has a boundary without an end of line')
    const headersEnd = text.indexOf(CRLF + CRLF, at)
    const end = text.indexOf(CRLF + delimiter, headersEnd + CRLF.length)
    if (headersEnd === -1 || end === -1) throw malformed('ends inside a part')
    const headers = decodeUtf8(bytes.subarray(at + CRLF.length, headersEnd))
    appendPart(form, headers, bytes.slice(headersEnd + 2 * CRLF.length, end))
    at = end + CRLF.length
  }
}

function appendPart(form: FormData, headers: string, content: Uint8Array<ArrayBuffer>): void {
  const fields = new Map(headers.split(CRLF).map(headerField))
  const disposition = dispositionParameters(fields.get('content-disposition') ?? '')
  const name = disposition.get('name')
  if (name === undefined) throw malformed('has a part without a name')
  const filename = disposition.get('filename')
  if (filename === undefined) {
    form.append(unescapeName(name), decodeUtf8(content))
    return
  }
  const type = fields.get('content-type') ?? 'text/plain'
  form.append(unescapeName(name), new File([blobOf(content, '')], unescapeName(filename), { type }))
}

/** By lower-case name; the last of two with the same name counts, as in Node. Empty for what is no `form-data`. */
function dispositionParameters(disposition: string): Map<string, string> {
  const parameters = new Map<string, string>()
  const start = /^form-data[\t ]*/i.exec(disposition)?.[0].length
  if (start === undefined) return parameters
  PARAMETER.lastIndex = start
  while (PARAMETER.lastIndex < disposition.length) {
    const match = PARAMETER.exec(disposition)
    if (match === null) throw malformed('has a Content-Disposition that cannot be read')
    const [, name = '', quoted, token = ''] = match
    parameters.set(name.toLowerCase(), quoted ?? token)
  }
  return parameters
}

function headerField(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon === -1) throw malformed('has a header without a colon')
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
}

const normalizeLines = (text: string): string => text.replaceAll(/\r\n?|\n/g, CRLF)

const escapeName = (name: string): string =>
  name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')

const unescapeName = (name: string): string =>
  name.replaceAll(/%0a/gi, '\n').replaceAll(/%0d/gi, '\r').replaceAll('%22', '"')

const malformed = (what: string): TypeError =>
  new TypeError(`The multipart body is malformed: it ${what}.`)
