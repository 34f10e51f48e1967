import { SignJWT, base64url, decodeJwt, decodeProtectedHeader, generateKeyPair } from 'jose'

/** The claims of the token, without a signature. */
export function unsigned(token: string | object): string {
  const claims = typeof token === 'string' ? decodeJwt(token) : token
  const header = base64url.encode(JSON.stringify({ alg: 'none', typ: 'JWT' }))
  return `${header}.${base64url.encode(JSON.stringify(claims))}.`
}

/** The claims of the token, under the same `kid`, with another key. */
export async function signedByStranger(token: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256')
  const { alg = 'RS256', ...header } = decodeProtectedHeader(token)
  return new SignJWT(decodeJwt(token)).setProtectedHeader({ ...header, alg }).sign(privateKey)
}
