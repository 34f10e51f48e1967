import { createHash, createHmac } from 'node:crypto'

export interface SignedRequest {
  readonly method: string
  /** Path and query, as on the wire. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const QUERY = 'X-Amz-'

/** What is wrong with a presigned URL's signature (AWS Signature Version 4, query parameters), or undefined. */
export function presignFault(
  { method, target, headers }: SignedRequest,
  { accessKeyId, secretAccessKey }: S3Credentials,
  now: Date,
): string | undefined {
  const url = new URL(target, 'http://any')
  const field = (name: string) => url.searchParams.get(QUERY + name) ?? ''
  const [key, ...scope] = field('Credential').split('/')
  const [date = '-', , service, end] = scope
  const time = field('Date')
  const names = field('SignedHeaders').split(';')
  const faults: [string, boolean][] = [
    ['algorithm', field('Algorithm') !== 'AWS4-HMAC-SHA256'],
    ['credential', key !== accessKeyId || service !== 's3' || end !== 'aws4_request'],
    ['date', !time.startsWith(date)],
    ['checksum of an empty body', url.searchParams.has('x-amz-checksum-crc32')],
    ['host is not signed', !names.includes('host')],
    ['expired', parseTime(time) + Number(field('Expires')) * 1000 <= now.getTime()],
  ]
  const canonical = canonicalRequest(method, url, names, headers)
  const words = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)]
  const secret = scope.reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`)
  const right = hmac(secret, words.join('\n')).toString('hex')
  faults.push(['signature', right !== field('Signature')])
  return faults.find(([, wrong]) => wrong)?.[0]
}

function canonicalRequest(
  method: string,
  url: URL,
  names: readonly string[],
  headers: SignedRequest['headers'],
): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== `${QUERY}Signature`)
    .map((pair) => pair.map(encode).join('='))
    .toSorted()
  const path = url.pathname.split('/').map((part) => encode(decodeURIComponent(part)))
  return [
    method,
    path.join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    names.join(';'),
    'UNSIGNED-PAYLOAD',
  ].join('\n')
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const parseTime = (time: string): number =>
  Date.parse(time.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'))
