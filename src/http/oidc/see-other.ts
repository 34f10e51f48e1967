/** A redirect after which nothing is kept and nothing is told of where the browser was. */
export function seeOther(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}
