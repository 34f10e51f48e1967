import { type JWTPayload, SignJWT, decodeProtectedHeader, generateKeyPair, jwtVerify } from 'jose'

const KEY = new TextEncoder().encode('0123456789abcdef0123456789abcdef')
const failure = (error: unknown) =>
  (error as { code?: string; name: string }).code ?? (error as Error).name

export default async ({ payload }: { payload: JWTPayload }) => {
  const token = await new SignJWT(payload)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('urn:croft')
    .setExpirationTime('5 minutes')
    .sign(KEY)
  const verified = await jwtVerify(token, KEY, { issuer: 'urn:croft' })
  const forged = await jwtVerify(`${token.slice(0, -4)}AAAA`, KEY).catch(failure)
  const unsupported = await generateKeyPair('ES256').catch(({ name }: Error) => name)
  return {
    unsupported,
    header: decodeProtectedHeader(token),
    role: verified.payload['role'],
    forged,
  }
}
