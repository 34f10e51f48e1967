/** The signed address of an object on the origin of the console: the policy of the page allows no other. The signature does not cover the host. */
export function objectUrl(signed: string, origin: string): string {
  const { pathname, search } = new URL(signed, origin)
  return `${origin}/${pathname.replace(/^\/+/, '')}${search}`
}
