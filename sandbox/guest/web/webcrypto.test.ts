import { generateKeyPairSync } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'
import { runOnNode } from '#sandbox/guest/testing/platform.ts'

type Cases = Readonly<Record<string, string>>

const EC = ['P-256', 'P-384', 'P-521'] as const
const KEYS = Object.fromEntries(
  [
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['OTHER', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
    ...EC.map((namedCurve) => [namedCurve, generateKeyPairSync('ec', { namedCurve }).privateKey]),
    ['Ed25519', generateKeyPairSync('ed25519').privateKey],
    ['Ed448', generateKeyPairSync('ed448').privateKey],
    ['X25519', generateKeyPairSync('x25519').privateKey],
    ['X448', generateKeyPairSync('x448').privateKey],
  ].map(([name, key]) => [
    name,
    (key as ReturnType<typeof generateKeyPairSync>['privateKey']).export({ format: 'jwk' }),
  ]),
)

/** What the cases use: keys as JSON Web Keys, and ways to show results. */
const HELP = `
const KEYS = ${JSON.stringify(KEYS)}
const s = crypto.subtle
const bytes = (n, from = 0) => Uint8Array.from({ length: n }, (_, at) => (at * 7 + from) & 255)
const shown = async (value) => { const v = await value; return v instanceof ArrayBuffer ? [...new Uint8Array(v)] : v }
const failing = async (tries) => { const out = []; for (const f of tries) { try { await f(); out.push('ok') } catch (e) { out.push([e.constructor.name, e.name]) } } return out }
const open = ({ kty, crv, x, y, n, e }) => ({ kty, crv, x, y, n, e })
const priv = (jwk, alg, usages) => s.importKey('jwk', jwk, alg, true, usages)
const pub = (jwk, alg, usages) => s.importKey('jwk', open(jwk), alg, true, usages)
const secret = (data, alg, usages) => s.importKey('raw', data, alg, true, usages)
const key = (k) => [k.type, k.algorithm.name, k.extractable, k.usages, k.algorithm.length, k.algorithm.hash, k.algorithm.namedCurve, k.algorithm.modulusLength, k.algorithm.publicExponent && [...k.algorithm.publicExponent]]
const forms = async (pairs) => { const out = []; for (const [format, k] of pairs) out.push(await shown(s.exportKey(format, k))); return out }
`

const CASES: Cases = {
  'AES in its modes': `const out = []; for (const length of [16, 24, 32]) for (const [name, more] of [['AES-CBC', { iv: bytes(16) }], ['AES-CTR', { counter: bytes(16, 9), length: 64 }], ['AES-GCM', { iv: bytes(12) }], ['AES-GCM', { iv: bytes(32), additionalData: bytes(5), tagLength: 96 }]]) { const k = await secret(bytes(length), name, ['encrypt', 'decrypt']); const c = await s.encrypt({ name, ...more }, k, bytes(100)); out.push(await shown(c), await shown(s.decrypt({ name, ...more }, k, c))) } return out`,
  'an AES counter that comes round': `const k = await secret(bytes(16), 'AES-CTR', ['encrypt']); const out = []; for (const length of [1, 2, 5, 8, 9, 127, 128]) for (const size of [0, 31, 33, 300]) { try { out.push(await shown(s.encrypt({ name: 'AES-CTR', counter: new Uint8Array(16).fill(255), length }, k, bytes(size)))) } catch (e) { out.push(e.name) } } return out`,
  'AES that is refused': `const k = await secret(bytes(16), 'AES-GCM', ['encrypt', 'decrypt']); const b = await secret(bytes(16), 'AES-CBC', ['encrypt', 'decrypt']); const c = await secret(bytes(16), 'AES-CTR', ['encrypt']); const iv = bytes(12); return failing([() => s.encrypt({ name: 'AES-GCM', iv, tagLength: 33 }, k, iv), () => s.decrypt({ name: 'AES-GCM', iv }, k, bytes(8)), () => s.decrypt({ name: 'AES-GCM', iv }, k, bytes(40)), () => s.encrypt({ name: 'AES-GCM' }, k, iv), () => s.encrypt({ name: 'AES-CBC', iv }, b, iv), () => s.decrypt({ name: 'AES-CBC', iv: bytes(16) }, b, bytes(17)), () => s.decrypt({ name: 'AES-CBC', iv: bytes(16) }, b, bytes(32)), () => s.encrypt({ name: 'AES-CTR', counter: iv, length: 64 }, c, iv), () => s.encrypt({ name: 'AES-CTR', counter: bytes(16), length: 0 }, c, iv), () => s.encrypt({ name: 'AES-CTR', counter: bytes(16), length: 300 }, c, iv), () => s.decrypt({ name: 'AES-CTR', counter: bytes(16), length: 8 }, c, iv), () => s.encrypt({ name: 'AES-CBC', iv: bytes(16) }, k, iv), () => secret(bytes(15), 'AES-GCM', ['encrypt']), () => s.generateKey({ name: 'AES-GCM', length: 100 }, true, ['encrypt']), () => s.encrypt({ name: 'AES-GCM', iv }, k, 'text')])`,
  'wrapping with AES-KW': `const w = await secret(bytes(24), 'AES-KW', ['wrapKey', 'unwrapKey']); const k = await secret(bytes(32), { name: 'HMAC', hash: 'SHA-256' }, ['sign']); const wrapped = await s.wrapKey('raw', k, w, 'AES-KW'); const back = await s.unwrapKey('raw', wrapped, w, 'AES-KW', { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']); return [await shown(wrapped), await shown(s.exportKey('raw', back)), await failing([() => s.unwrapKey('raw', bytes(40), w, 'AES-KW', 'AES-GCM', true, ['encrypt'])])]`,
  'wrapping with AES-GCM': `const alg = { name: 'AES-GCM', iv: bytes(12) }; const w = await secret(bytes(16), 'AES-GCM', ['wrapKey', 'unwrapKey']); const k = await priv(KEYS['P-256'], { name: 'ECDSA', namedCurve: 'P-256' }, ['sign']); const out = []; for (const format of ['jwk', 'pkcs8']) { const wrapped = await s.wrapKey(format, k, w, alg); const back = await s.unwrapKey(format, wrapped, w, alg, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']); out.push(await s.exportKey('jwk', back)) } return out`,
  PBKDF2: `const k = await s.importKey('raw', bytes(9), 'PBKDF2', false, ['deriveBits', 'deriveKey']); const out = []; for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) for (const iterations of [1, 1000, 30000]) out.push(await shown(s.deriveBits({ name: 'PBKDF2', hash, salt: bytes(16), iterations }, k, 256))); const d = await s.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt: bytes(8), iterations: 2 }, k, { name: 'AES-GCM', length: 256 }, true, ['encrypt']); out.push(key(d), await shown(s.exportKey('raw', d))); return [out, await failing([() => s.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: bytes(8), iterations: 0 }, k, 256), () => s.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: bytes(8), iterations: 1 }, k, 255), () => s.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: bytes(8), iterations: 1 }, k, null), () => s.importKey('raw', bytes(9), 'PBKDF2', true, ['deriveBits']), () => s.importKey('jwk', {}, 'PBKDF2', false, ['deriveBits']), () => s.exportKey('raw', k)])]`,
  HKDF: `const k = await s.importKey('raw', bytes(22), 'HKDF', false, ['deriveBits', 'deriveKey']); const out = []; for (const hash of ['SHA-1', 'SHA-256', 'SHA-512']) for (const length of [0, 8, 336, 4000]) out.push(await shown(s.deriveBits({ name: 'HKDF', hash, salt: bytes(13), info: bytes(10) }, k, length))); const d = await s.deriveKey({ name: 'HKDF', hash: 'SHA-256', salt: bytes(0), info: bytes(0) }, k, { name: 'HMAC', hash: 'SHA-384' }, true, ['verify']); return [out, key(d), await shown(s.exportKey('raw', d)), await failing([() => s.deriveBits({ name: 'HKDF', hash: 'SHA-1', salt: bytes(1), info: bytes(1) }, k, 20 * 255 * 8 + 8), () => s.deriveBits({ name: 'HKDF', hash: 'SHA-1', salt: bytes(1) }, k, 8), () => s.sign('HKDF', k, bytes(1))])]`,
  'ECDH and X25519': `const out = []; for (const curve of ['P-256', 'P-384', 'P-521', 'X25519', 'X448']) { const alg = curve[0] === 'P' ? { name: 'ECDH', namedCurve: curve } : { name: curve }; const k = await priv(KEYS[curve], alg, ['deriveBits', 'deriveKey']); const other = await pub(KEYS[curve], alg, []); for (const length of [null, 0, 8, 128, 131, 256, 2048]) { try { out.push(await shown(s.deriveBits({ name: alg.name, public: other }, k, length))) } catch (e) { out.push(e.name) } } out.push(await shown(s.exportKey('raw', await s.deriveKey({ name: alg.name, public: other }, k, { name: 'AES-CBC', length: 128 }, true, ['encrypt']))), key(k), key(other)) } const a = await priv(KEYS['P-256'], { name: 'ECDH', namedCurve: 'P-256' }, ['deriveBits']); const b = await pub(KEYS['P-384'], { name: 'ECDH', namedCurve: 'P-384' }, []); return [out, await failing([() => s.deriveBits({ name: 'ECDH', public: b }, a, 8), () => s.deriveBits({ name: 'ECDH', public: a }, a, 8), () => s.deriveBits({ name: 'ECDH', public: {} }, a, 8), () => s.deriveBits({ name: 'ECDH' }, a, 8), () => s.deriveKey({ name: 'ECDH', public: b }, a, { name: 'AES-CBC', length: 128 }, true, ['encrypt'])])]`,
  'signatures that are always the same': `const out = []; for (const name of ['Ed25519', 'Ed448']) { const k = await priv(KEYS[name], name, ['sign']); out.push(await shown(s.sign(name, k, bytes(50)))) } for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) { const alg = { name: 'RSASSA-PKCS1-v1_5', hash }; const k = await priv(KEYS.RSA, alg, ['sign']); const signed = await s.sign(alg.name, k, bytes(50)); const p = await pub(KEYS.RSA, alg, ['verify']); out.push(await shown(signed), await s.verify(alg.name, p, signed, bytes(50)), await s.verify(alg.name, p, signed, bytes(51)), await s.verify(alg.name, p, bytes(3), bytes(50))); const pss = { name: 'RSA-PSS', hash }; const q = await priv(KEYS.RSA, pss, ['sign']); out.push(await shown(s.sign({ name: 'RSA-PSS', saltLength: 0 }, q, bytes(5)))) } return out`,
  'signatures that are never the same': `const out = []; for (const namedCurve of ['P-256', 'P-384', 'P-521']) for (const hash of ['SHA-1', 'SHA-256', 'SHA-512']) { const alg = { name: 'ECDSA', namedCurve }; const k = await priv(KEYS[namedCurve], alg, ['sign']); const p = await pub(KEYS[namedCurve], alg, ['verify']); const how = { name: 'ECDSA', hash }; const signed = await s.sign(how, k, bytes(9)); out.push(signed.byteLength, await s.verify(how, p, signed, bytes(9)), await s.verify(how, p, signed, bytes(8)), await s.verify(how, p, bytes(64), bytes(9)), await s.verify(how, p, bytes(1), bytes(9))) } const k = await priv(KEYS.RSA, { name: 'RSA-PSS', hash: 'SHA-256' }, ['sign']); return [out, await failing([() => s.sign({ name: 'RSA-PSS', saltLength: 500 }, k, bytes(1)), () => s.sign({ name: 'RSA-PSS' }, k, bytes(1)), () => s.sign({ name: 'ECDSA', hash: 'SHA-256' }, k, bytes(1)), () => s.sign({ name: 'RSA-PSS', saltLength: -1 }, k, bytes(1))])]`,
  'RSA-OAEP': `const alg = { name: 'RSA-OAEP', hash: 'SHA-256' }; const p = await pub(KEYS.RSA, alg, ['encrypt', 'wrapKey']); const k = await priv(KEYS.RSA, alg, ['decrypt', 'unwrapKey']); const label = bytes(7); const out = []; for (const how of [{ name: 'RSA-OAEP' }, { name: 'RSA-OAEP', label }]) out.push(await shown(s.decrypt(how, k, await s.encrypt(how, p, bytes(100))))); return [out, await failing([() => s.encrypt('RSA-OAEP', p, bytes(200)), async () => s.decrypt('RSA-OAEP', k, await s.encrypt({ name: 'RSA-OAEP', label }, p, bytes(1))), () => s.decrypt('RSA-OAEP', k, bytes(256)), () => s.encrypt('RSA-OAEP', k, bytes(1))])]`,
  'elliptic keys in every format': `const out = []; for (const namedCurve of ['P-256', 'P-384', 'P-521']) for (const [name, own, other] of [['ECDSA', ['sign'], ['verify']], ['ECDH', ['deriveBits'], []]]) { const alg = { name, namedCurve }; const k = await priv(KEYS[namedCurve], alg, own); const p = await pub(KEYS[namedCurve], alg, other); out.push(key(k), key(p), await forms([['jwk', k], ['pkcs8', k], ['jwk', p], ['spki', p], ['raw', p]])); const raw = new Uint8Array(await s.exportKey('raw', p)); const half = (raw.length - 1) / 2; const short = new Uint8Array([2 + (raw[raw.length - 1] & 1), ...raw.slice(1, 1 + half)]); out.push(await forms([['spki', await s.importKey('raw', short, alg, true, other)], ['jwk', await s.importKey('raw', raw, alg, true, other)], ['jwk', await s.importKey('pkcs8', await s.exportKey('pkcs8', k), alg, true, own)], ['jwk', await s.importKey('spki', await s.exportKey('spki', p), alg, true, other)]])) } return out`,
  'Edwards and Montgomery keys in every format': `const out = []; for (const [name, own, other] of [['Ed25519', ['sign'], ['verify']], ['Ed448', ['sign'], ['verify']], ['X25519', ['deriveKey'], []], ['X448', ['deriveKey'], []]]) { const k = await priv(KEYS[name], name, own); const p = await pub(KEYS[name], name, other); out.push(key(k), key(p), await forms([['jwk', k], ['pkcs8', k], ['jwk', p], ['spki', p], ['raw', p], ['jwk', await s.importKey('raw', await s.exportKey('raw', p), name, true, other)]])) } return out`,
  'RSA keys in every format': `const out = []; for (const [name, own, other] of [['RSASSA-PKCS1-v1_5', ['sign'], ['verify']], ['RSA-PSS', ['sign'], ['verify']], ['RSA-OAEP', ['unwrapKey', 'decrypt'], ['wrapKey']]]) for (const hash of ['SHA-1', 'SHA-512']) { const alg = { name, hash }; const k = await priv(KEYS.RSA, alg, own); const p = await pub(KEYS.RSA, alg, other); out.push(key(k), key(p), await forms([['jwk', k], ['pkcs8', k], ['jwk', p], ['spki', p], ['jwk', await s.importKey('spki', await s.exportKey('spki', p), alg, true, other)]]), await failing([() => s.exportKey('raw', p)])) } return out`,
  'keys that are refused': `const ec = { name: 'ECDSA', namedCurve: 'P-256' }; const rsa = { name: 'RSA-PSS', hash: 'SHA-256' }; const p = KEYS['P-256']; const spki = await s.exportKey('spki', await pub(p, ec, ['verify'])); return failing([() => priv({ ...p, x: KEYS.OTHER.x, y: KEYS.OTHER.y }, ec, ['sign']), () => pub({ ...p, x: KEYS.OTHER.x }, ec, ['verify']), () => pub(KEYS['P-384'], ec, ['verify']), () => s.importKey('spki', spki, { name: 'ECDSA', namedCurve: 'P-384' }, true, ['verify']), () => s.importKey('spki', spki, rsa, true, ['verify']), () => s.importKey('pkcs8', spki, ec, true, ['sign']), () => s.importKey('raw', bytes(65), ec, true, ['verify']), () => s.importKey('raw', bytes(31), 'Ed25519', true, ['verify']), () => priv({ ...KEYS.Ed25519, x: KEYS.X25519.x }, 'Ed25519', ['sign']), () => priv(KEYS.X25519, 'Ed25519', ['sign']), () => priv(p, ec, ['verify']), () => priv(p, ec, []), () => priv({ ...p, ext: false }, ec, ['sign']), () => priv({ ...p, use: 'enc' }, ec, ['sign']), () => priv({ ...p, key_ops: ['verify'] }, ec, ['sign']), () => priv({ ...p, key_ops: ['sign', 'sign'] }, ec, ['sign']), () => priv({ ...KEYS.RSA, alg: 'RS256' }, rsa, ['sign']), () => priv({ ...KEYS.RSA, kty: 'EC' }, rsa, ['sign']), () => priv({ ...KEYS.RSA, n: undefined }, rsa, ['sign']), () => s.importKey('raw', bytes(256), rsa, true, ['verify']), () => s.importKey('spki', bytes(90), ec, true, ['verify']), () => s.importKey('spki', bytes(0), ec, true, ['verify']), () => pub(p, { name: 'ECDSA', namedCurve: 'P-1' }, ['verify']), () => pub(p, { name: 'ECDSA' }, ['verify']), () => s.importKey('raw', {}, ec, true, []), () => s.importKey('nope', {}, ec, true, []), () => s.importKey('raw', bytes(65), ec, true, ['nope']), () => s.importKey('raw', bytes(65), ec)])`,
  'pairs that are made': `const out = []; for (const [alg, usages] of [[{ name: 'ECDSA', namedCurve: 'P-256' }, ['sign', 'verify']], [{ name: 'ECDH', namedCurve: 'P-521' }, ['deriveBits']], [{ name: 'ed25519' }, ['sign']], ['X25519', ['deriveKey', 'deriveBits']], [{ name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-384' }, ['decrypt', 'encrypt']]]) { const { privateKey, publicKey } = await s.generateKey(alg, false, usages); out.push(key(privateKey), key(publicKey)) } return [out, await failing([() => s.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']), () => s.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, []), () => s.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['sign']), () => s.generateKey({ name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1]), hash: 'SHA-1' }, true, ['sign']), () => s.generateKey({ name: 'RSA-PSS', modulusLength: 2048, publicExponent: [1, 0, 1], hash: 'SHA-1' }, true, ['sign']), () => s.generateKey({ name: 'RSA-PSS', modulusLength: 2048, hash: 'SHA-1' }, true, ['sign'])])]`,
  'objects of a key': `const k = await secret(bytes(16), 'AES-CBC', ['decrypt', 'encrypt', 'encrypt']); k.algorithm.length = 1; k.usages.length = 0; let late; try { await s.encrypt({ name: 'AES-CBC', iv: bytes(16) }, k, bytes(1)); late = 'ok' } catch (e) { late = e.name } return [k.algorithm === k.algorithm, k.usages === k.usages, late, Object.prototype.toString.call(k), structuredClone(k) instanceof CryptoKey, key(structuredClone(await secret(bytes(16), 'AES-CBC', ['encrypt'])))]`,
  'data that changes on the way': `const data = bytes(8); const k = await secret(bytes(16), { name: 'HMAC', hash: 'SHA-256' }, ['sign']); const first = s.sign('HMAC', k, data); data.fill(0); const cut = bytes(8); const gone = s.digest('SHA-256', cut); structuredClone(cut.buffer, { transfer: [cut.buffer] }); return [await shown(first), await shown(gone), await shown(s.digest('SHA-256', cut)), await shown(s.digest('SHA-256', cut.buffer))]`,
  'base64url of many kinds': `const out = []; for (const k of ['xxx', 'a-_AlFa-2-OmEGa_-z==', '_____________________w==', 'HnZXRyDKn-_G5Fx4JWR1YA']) { const one = await s.importKey('jwk', { kty: 'oct', k, alg: 'HS384' }, { name: 'HMAC', hash: 'SHA-384' }, true, ['sign']); out.push(one.algorithm.length, (await s.exportKey('jwk', one)).k) } return out`,
  'wrong receivers and too few arguments': `return failing([() => s.digest('SHA-256'), () => s.digest.call({}, 'SHA-256', bytes(1)), () => s.importKey('raw'), () => s.sign('HMAC', {}, bytes(1)), () => s.digest(null, bytes(1)), () => s.digest({}, bytes(1)), () => s.digest('SHA-256', [1]), () => new SubtleCrypto(), () => new CryptoKey()])`,
  'lengths of the methods': `return Object.getOwnPropertyNames(SubtleCrypto.prototype).filter((n) => ${JSON.stringify('encrypt decrypt sign verify digest generateKey deriveKey deriveBits importKey exportKey wrapKey unwrapKey')}.split(' ').includes(n)).sort().map((n) => [n, SubtleCrypto.prototype[n].length])`,
}

/** What a site may do to the built-ins before it uses keys. */
const HIJACKS: Cases = {
  'Array.prototype': `for (const k of ['push', 'map', 'join', 'slice', 'forEach', 'filter', 'concat', 'includes', 'indexOf', Symbol.iterator]) Array.prototype[k] = () => { throw new Error('hijacked') }; Object.defineProperty(Array.prototype, '0', { set() { throw new Error('hijacked') } })`,
  'typed arrays and buffers': `const U = Uint8Array; const T = Object.getPrototypeOf(U.prototype); for (const k of ['set', 'subarray', 'slice', 'fill', Symbol.iterator]) T[k] = () => { throw new Error('hijacked') }; ArrayBuffer.prototype.slice = T.set; globalThis.Uint8Array = globalThis.ArrayBuffer = null`,
  'JSON and toJSON': `Object.prototype.toJSON = String.prototype.toJSON = () => 'hijacked'; JSON.parse = JSON.stringify = () => { throw new Error('hijacked') }; globalThis.JSON = null`,
  'String, RegExp, Object, Reflect, Function': `for (const k of ['slice', 'indexOf', 'charCodeAt', 'split', 'startsWith', 'toUpperCase']) String.prototype[k] = () => { throw new Error('hijacked') }; RegExp.prototype.exec = RegExp.prototype.test = String.prototype.slice; for (const k of ['keys', 'entries', 'defineProperty', 'getPrototypeOf', 'hasOwn']) Object[k] = String.prototype.slice; Reflect.apply = Object.keys; Function.prototype.call = Function.prototype.apply = Function.prototype.bind = Object.keys`,
  'promises and the platform': `const { then } = Promise.prototype; Promise.prototype.then = Promise.prototype.catch = () => { throw new Error('hijacked') }; globalThis.TextEncoder = globalThis.DOMException = globalThis.CryptoKey = globalThis.SubtleCrypto = globalThis.Number = globalThis.Boolean = null; const worked = await work(); Promise.prototype.then = then; return worked ? 'yes' : 'no'`,
}

const USES_KEYS = `
  const { subtle } = crypto, data = new Uint8Array([1, 2, 3]), U8 = Uint8Array
  const work = async () => {
    const { privateKey, publicKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    const how = { name: 'ECDSA', hash: 'SHA-256' }
    const jwk = await subtle.exportKey('jwk', privateKey)
    const again = await subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
    const ok = await subtle.verify(how, publicKey, await subtle.sign(how, again, data), data)
    const bits = await subtle.importKey('raw', data, 'PBKDF2', false, ['deriveBits'])
    const derived = await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: data, iterations: 9000 }, bits, 256)
    return ok && derived.byteLength === 32 && jwk.kty === 'EC'
  }`

describe('crypto.subtle of a guest', () => {
  let guest: Guest

  beforeAll(async () => {
    guest = await Guest.open()
  })
  afterAll(() => guest[Symbol.dispose]())

  test.each(Object.entries(CASES))('answers as Node does: %s', async (_name, body) => {
    const source = `${HELP}; try { return { value: await (async () => {${body}})() } } catch (error) { return { threw: String(error?.name), message: String(error?.message) } }`
    const [ours, theirs] = [await guest.run(source), await runOnNode(source)]
    expect(ours).toEqual(theirs)
    expect(ours).toHaveProperty('value')
  })

  test.each(Object.entries(HIJACKS))('outlives %s', async (_name, hijack) => {
    using other = await Guest.open()
    expect(await other.run(`${USES_KEYS}; ${hijack}; return (await work()) ? 'yes' : 'no'`)).toBe(
      'yes',
    )
  })

  test.each([
    [
      'too many iterations',
      `const k = await s.importKey('raw', bytes(3), 'PBKDF2', false, ['deriveBits']); await s.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: bytes(8), iterations: 4294967295 }, k, 512)`,
      'OperationError',
      /5000000 iterations/,
    ],
    [
      'iterations that one block would allow',
      `const k = await s.importKey('raw', bytes(3), 'PBKDF2', false, ['deriveBits']); await s.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: bytes(8), iterations: 4000000 }, k, 320)`,
      'OperationError',
      /would take 8000000/,
    ],
    [
      'a result without measure',
      `const k = await s.importKey('raw', bytes(3), 'PBKDF2', false, ['deriveBits']); await s.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: bytes(8), iterations: 1 }, k, 2 ** 31)`,
      'OperationError',
      /length/,
    ],
    [
      'a modulus that is too long',
      `await s.generateKey({ name: 'RSA-PSS', modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['sign'])`,
      'OperationError',
      /1024 to 4096 bits/,
    ],
    [
      'an exponent that is too long',
      `await s.generateKey({ name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array(200).fill(255), hash: 'SHA-256' }, true, ['sign'])`,
      'OperationError',
      /4 bytes/,
    ],
    [
      'a key that is too long',
      `await s.importKey('jwk', { kty: 'RSA', n: 'A'.repeat(2731).replace('A', 'x'), e: 'AQAB' }, { name: 'RSA-PSS', hash: 'SHA-256' }, true, ['verify'])`,
      'DataError',
      /1024 to 4096 bits/,
    ],
    [
      'a key part that is too long',
      `await s.importKey('jwk', { ...KEYS.RSA, d: KEYS.RSA.d + 'A'.repeat(3000) }, { name: 'RSA-PSS', hash: 'SHA-256' }, true, ['sign'])`,
      'DataError',
      /longer than its modulus|not a valid RSA key|too long/,
    ],
    [
      'data without measure',
      `await s.digest('SHA-256', new Uint8Array(17 * 1024 * 1024))`,
      'OperationError',
      /16777216 bytes/,
    ],
    [
      'an algorithm that is not here',
      `await s.digest('SHA3-256', bytes(1))`,
      'NotSupportedError',
      /SHA3-256/,
    ],
  ])('refuses %s, and says so', async (_name, body, name, message) => {
    const thrown = await guest.run(
      `${HELP}; try { ${body}; return ['ok', ''] } catch (e) { return [e.name, e.message] }`,
    )
    expect(thrown).toEqual([name, expect.stringMatching(message)])
  })

  test('gives the names that the standard gives where Node has others', async () => {
    const ends = await guest.run(`${HELP}
      const alg = { name: 'RSA-PSS', hash: 'SHA-256' }
      const k = await priv(KEYS.RSA, alg, ['sign'])
      const p = await pub(KEYS.RSA, alg, ['verify'])
      return failing([() => s.exportKey('spki', k), () => s.exportKey('pkcs8', p), () => s.importKey('jwk', bytes(3), alg, true, ['verify'])])`)
    const wrongType = ['DOMException', 'InvalidAccessError']
    expect(ends).toEqual([wrongType, wrongType, ['TypeError', 'TypeError']])
  })

  test('reads each member of a dictionary once, and takes what getters do to the data as done before', async () => {
    const seen = await guest.run(`${HELP}
      const seen = []
      const data = bytes(4)
      const watched = (members) => new Proxy(members, { get(target, name) { seen.push(String(name)); if (name === 'iv') data.fill(9); return target[name] } })
      const k = await secret(bytes(16), 'AES-GCM', ['encrypt', 'decrypt'])
      const c = await s.encrypt(watched({ name: 'AES-GCM', iv: bytes(12), tagLength: 128 }), k, data)
      return [seen, await shown(s.decrypt({ name: 'AES-GCM', iv: bytes(12) }, k, c))]`)
    expect(seen).toEqual([
      ['name', 'additionalData', 'iv', 'tagLength'],
      [9, 9, 9, 9],
    ])
  })

  test('keeps the secrets of keys from whatever a site can call', async () => {
    const found = await guest.run(`${HELP}
      const k = await s.importKey('raw', bytes(16, 77), 'AES-GCM', false, ['encrypt', 'wrapKey'])
      const seen = new Set()
      const walk = (value) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return
        seen.add(value)
        if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) throw new Error('bytes')
        for (const name of Reflect.ownKeys(value)) try { walk(value[name]) } catch (e) { if (e.message === 'bytes') throw e }
      }
      walk(k)
      return [Reflect.ownKeys(k), JSON.stringify(k), await failing([() => s.exportKey('raw', k), () => s.exportKey('jwk', k), () => s.wrapKey('raw', k, k, { name: 'AES-GCM', iv: bytes(12) }), () => s.exportKey('raw', structuredClone(k))])]`)
    const refused = ['DOMException', 'InvalidAccessError']
    expect(found).toEqual([[], '{}', [refused, refused, refused, refused]])
  })

  test('does thousands of operations at once', async () => {
    const done = await guest.run(`${HELP}
      const k = await secret(bytes(16), { name: 'HMAC', hash: 'SHA-256' }, ['sign'])
      const all = await Promise.all(Array.from({ length: 3000 }, (_, at) => s.sign('HMAC', k, bytes(at % 50))))
      return all.every((one) => one.byteLength === 32)`)
    expect(done).toBe(true)
  })

  test('refuses long operations beyond those that may wait', async () => {
    const ends = await guest.run(`${HELP}
      const k = await s.importKey('raw', bytes(3), 'PBKDF2', false, ['deriveBits'])
      const ask = () => s.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: bytes(8), iterations: 20001 }, k, 256)
      const ends = await Promise.allSettled(Array.from({ length: 400 }, ask))
      const failed = ends.filter((end) => end.status === 'rejected')
      return [failed.length > 200, failed[0].reason.name, failed[0].reason.message]`)
    expect(ends).toEqual([
      true,
      'OperationError',
      expect.stringContaining('await some of them first'),
    ])
  })
})
