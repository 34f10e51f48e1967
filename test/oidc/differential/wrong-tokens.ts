import { SignJWT, base64url, decodeJwt, decodeProtectedHeader, generateKeyPair } from 'jose'

/** What the token says, with nobody's signature. */
export function unsigned(token: string | object): string {
  const claims = typeof token === 'string' ? decodeJwt(token) : token
  const header = base64url.encode(JSON.stringify({ alg: 'none', typ: 'JWT' }))
  return `${header}.${base64url.encode(JSON.stringify(claims))}.`
}

/** What the token says, under the same `kid`, with a key of somebody else. */
export async function signedByStranger(token: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256')
  const { alg = 'RS256', ...header } = decodeProtectedHeader(token)
  return new SignJWT(decodeJwt(token)).setProtectedHeader({ ...header, alg }).sign(privateKey)
}
