export interface ListedObject {
  readonly key: string
  readonly size: number
  readonly metadata: { readonly etag: string }
  readonly lastModifiedDate: Date
}

/**
 * The XML of ListObjectsV2 as AWS answers it. s3rver sorts otherwise, fails on continuation tokens, and knows no
 * encoding type.
 */
export function listObjectsXml(all: readonly ListedObject[], query: URLSearchParams): string {
  const token = query.get('continuation-token')
  const after = token === null ? (query.get('start-after') ?? '') : openToken(token)
  const maxKeys = Number(query.get('max-keys') ?? 1000)
  const lines = linesOf(all, after, query)
  const page = lines.slice(0, maxKeys)
  const next = lines.length > maxKeys ? page.at(-1)?.last : undefined
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>croft</Name>',
    `<EncodingType>url</EncodingType><KeyCount>${page.length}</KeyCount>`,
    `<IsTruncated>${next !== undefined}</IsTruncated>`,
    next === undefined ? '' : `<NextContinuationToken>${makeToken(next)}</NextContinuationToken>`,
    ...page.map(({ xml }) => xml),
    '</ListBucketResult>',
  ].join('')
}

function linesOf(all: readonly ListedObject[], after: string, query: URLSearchParams) {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const lines: { key: string; xml: string; last: string }[] = []
  const sorted = all
    .filter(({ key }) => key.startsWith(prefix) && compare(key, after) > 0)
    .toSorted((a, b) => compare(a.key, b.key))
  for (const object of sorted) {
    const cut = delimiter === '' ? -1 : object.key.indexOf(delimiter, prefix.length)
    const key = cut === -1 ? object.key : object.key.slice(0, cut + delimiter.length)
    const same = lines.at(-1)
    if (cut !== -1 && same?.key === key) same.last = object.key
    else
      lines.push({ key, xml: cut === -1 ? contents(object) : commonPrefix(key), last: object.key })
  }
  return lines
}

const contents = ({ key, size, metadata, lastModifiedDate }: ListedObject): string =>
  `<Contents><Key>${encodeKey(key)}</Key><LastModified>${lastModifiedDate.toISOString()}</LastModified>` +
  `<ETag>${metadata.etag.replaceAll('"', '&quot;')}</ETag><Size>${size}</Size></Contents>`

const commonPrefix = (key: string): string =>
  `<CommonPrefixes><Prefix>${encodeKey(key)}</Prefix></CommonPrefixes>`

const encodeKey = (key: string): string =>
  encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+')

const compare = (a: string, b: string): number => Buffer.from(a).compare(Buffer.from(b))

const makeToken = (key: string): string => Buffer.from(key).toString('base64url')
const openToken = (token: string): string => Buffer.from(token, 'base64url').toString()
