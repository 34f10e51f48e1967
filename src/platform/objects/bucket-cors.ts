/** In the form that `aws s3api put-bucket-cors` takes. */
interface BucketCors {
  readonly CORSRules: {
    readonly AllowedOrigins: string[]
    readonly AllowedMethods: string[]
    readonly AllowedHeaders: string[]
    readonly ExposeHeaders: string[]
    readonly MaxAgeSeconds: number
  }[]
}

/** What a bucket must be set to so that pages of these origins can use its presigned URLs. */
export const bucketCors = (origins: readonly string[]): BucketCors => ({
  CORSRules: [
    {
      AllowedOrigins: [...origins],
      AllowedMethods: ['GET', 'HEAD', 'PUT'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['Accept-Ranges', 'Content-Range', 'ETag'],
      MaxAgeSeconds: 600,
    },
  ],
})

/** What a page asks before it puts a typed object, and before it reads a part of one. */
const PREFLIGHTS = [
  { method: 'PUT', headers: 'content-type' },
  { method: 'GET', headers: 'range' },
] as const

/**
 * Whether the bucket lets pages of this origin use a URL of one of its objects. Asks as a browser does, which needs no right to read
 * the bucket's settings. Rejects when the bucket cannot be reached.
 */
export async function allowsPagesOf(origin: string, url: string): Promise<boolean> {
  for (const { method, headers } of PREFLIGHTS) {
    const response = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': headers,
      },
      redirect: 'manual',
    })
    await response.body?.cancel()
    if (!response.ok || !allows(response.headers, { origin, method, header: headers })) return false
  }
  return true
}

function allows(
  headers: Headers,
  asked: { readonly origin: string; readonly method: string; readonly header: string },
): boolean {
  const named = (name: string): string[] =>
    (headers.get(name) ?? '').split(',').map((value) => value.trim().toLowerCase())
  const has = (name: string, value: string): boolean => {
    const values = named(name)
    return values.includes('*') || values.includes(value.toLowerCase())
  }
  return (
    has('access-control-allow-origin', asked.origin) &&
    has('access-control-allow-methods', asked.method) &&
    has('access-control-allow-headers', asked.header)
  )
}
