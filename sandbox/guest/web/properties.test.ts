import { createHash, createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'
import { runOnNode } from '#sandbox/guest/testing/platform.ts'

/** Any UTF-16, lone surrogates too. */
const text = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((u) => String.fromCharCode(u)),
})
const chars = (all: string) => fc.constantFrom(...all.split(''))
const words = fc.string({ unit: 'grapheme' })
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => [...array])
const RUNS = { numRuns: 60 }

describe('in a guest, for anything', () => {
  let guest: Guest

  /** An input for which the body gives something else than on Node. */
  const counterexample = async <Input>(
    inputs: fc.Arbitrary<Input>,
    body: string,
    numRuns = 60,
  ): Promise<unknown> => {
    const same = fc.asyncProperty(inputs, async (input) => {
      const source = `const input = JSON.parse(${JSON.stringify(JSON.stringify(input))}); ${body}`
      return isDeepStrictEqual(await guest.run(source), await runOnNode(source))
    })
    return (await fc.check(same, { numRuns })).counterexample
  }

  beforeAll(async () => {
    guest = await Guest.open()
  })

  afterAll(() => guest[Symbol.dispose]())

  test('TextEncoder writes what Node writes', async () => {
    const body = `return [...new TextEncoder().encode(input)]`
    expect(await counterexample(text, body)).toBeNull()
  })

  test('encodeInto stops where Node stops', async () => {
    const body = `const b = new Uint8Array(input[1]); return [new TextEncoder().encodeInto(input[0], b), [...b]]`
    const input = fc.tuple(text, fc.nat(20))
    expect(await counterexample(input, body)).toBeNull()
  })

  test('TextDecoder reads what Node reads, whole or in pieces', async () => {
    const body = `const [bytes, at] = input; const d = new TextDecoder(); const b = new Uint8Array(bytes)
      let fatal; try { fatal = new TextDecoder('utf-8', { fatal: true }).decode(b) } catch (e) { fatal = e.name }
      return [new TextDecoder().decode(b), d.decode(b.subarray(0, at), { stream: true }) + d.decode(b.subarray(at)), new TextDecoder('utf-16le').decode(b), fatal]`
    const input = fc.tuple(bytes, fc.nat(300))
    expect(await counterexample(input, body)).toBeNull()
  })

  test('text survives encoding and decoding when it is well formed', async () => {
    const body = `return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(input))`
    await fc.assert(
      fc.asyncProperty(words, async (input) => {
        const source = `const input = ${JSON.stringify(input)}; ${body}`
        expect(await guest.run(source)).toBe(input)
      }),
      RUNS,
    )
  })

  test('atob and btoa do what Node does', async () => {
    const body = `const out = []; for (const f of [btoa, atob]) { try { out.push(f(input)) } catch (e) { out.push(e.name) } } return out`
    const latin = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((u) => String.fromCharCode(u)),
    })
    const almost = fc.string({ unit: chars('AQgw/+= \n') })
    expect(await counterexample(fc.oneof(latin, almost, text), body, 150)).toBeNull()
  })

  test('URLSearchParams does what Node does', async () => {
    const body = `const p = new URLSearchParams(input[0]); const q = new URLSearchParams(input[1]); p.sort(); return [p.toString(), [...q], q.size, [...new URLSearchParams(p.toString())]]`
    const input = fc.tuple(
      fc.array(fc.tuple(words, words), { maxLength: 5 }),
      fc.string({ unit: chars('ab=&+%20?#') }),
    )
    expect(await counterexample(input, body)).toBeNull()
  })

  test('a URL is read as Node reads it', async () => {
    const part = fc.string({ unit: chars('aB1.-_/%2e?#@:[] é&=\\'), maxLength: 12 })
    const body = `return input.map((x) => { try { return new URL(x, 'http://base.test/p/q?r').href } catch { return null } })`
    const input = fc.tuple(
      part,
      part.map((rest) => `http://h.test/${rest}`),
      part.map((rest) => `custom:${rest}`),
    )
    expect(await counterexample(input, body, 200)).toBeNull()
  })

  test('the short way to a request URL gives what the parser gives', async () => {
    const part = fc.string({
      unit: chars('aZ0-._~/?:@!$&()*+,;=%\'"<>xn '),
      maxLength: 15,
    })
    const host = fc.constantFrom(
      'a.test',
      'localhost',
      'a-b.c',
      'xn--a.b',
      'A.b',
      '1.2.3.4',
      '1',
      'a..b',
      '-a.b',
      'a.b.',
      'a.1',
      '0x1',
    )
    const url = fc
      .tuple(
        fc.constantFrom('http', 'https'),
        host,
        fc.constantFrom('', '/', '/p/', '?', ':80'),
        part,
      )
      .map(([scheme, name, middle, rest]) => `${scheme}://${name}${middle}${rest}`)
    await fc.assert(
      fc.asyncProperty(fc.array(url, { minLength: 10, maxLength: 20 }), async (urls) => {
        const [short, parsed] = (await guest.run(
          `const urls = ${JSON.stringify(urls)}; const of = (make) => urls.map((u) => { try { return make(u) } catch { return null } })
          const plain = (u) => { const { href, username, password } = new URL(u); if (username || password) throw 0; return href }
          return [of((u) => new Request(u).url), of(plain)]`,
        )) as [unknown, unknown]
        expect(short).toEqual(parsed)
      }),
      { numRuns: 100 },
    )
  })

  test('structuredClone keeps what JSON can say', async () => {
    expect(await counterexample(fc.jsonValue(), `return structuredClone(input)`)).toBeNull()
  })

  test('digests are those of node:crypto', async () => {
    const body = `const out = []; for (const a of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) out.push([...new Uint8Array(await crypto.subtle.digest(a, new Uint8Array(input)))]); return out`
    await fc.assert(
      fc.asyncProperty(bytes, async (input) => {
        const digest = (name: string) => [...createHash(name).update(Buffer.from(input)).digest()]
        const expected = ['sha1', 'sha256', 'sha384', 'sha512'].map(digest)
        expect(await guest.run(`const input = ${JSON.stringify(input)}; ${body}`)).toEqual(expected)
      }),
      RUNS,
    )
  })

  test('HMAC signatures are those of node:crypto', async () => {
    const body = `const k = await crypto.subtle.importKey('raw', new Uint8Array(input[0]), { name: 'HMAC', hash: input[2] }, false, ['sign']); return [...new Uint8Array(await crypto.subtle.sign('HMAC', k, new Uint8Array(input[1])))]`
    const key = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((array) => [...array])
    const hash = fc.constantFrom('SHA-1', 'SHA-256', 'SHA-384', 'SHA-512')
    await fc.assert(
      fc.asyncProperty(key, bytes, hash, async (secret, data, name) => {
        const expected = createHmac(name.replace('-', ''), Buffer.from(secret))
          .update(Buffer.from(data))
          .digest()
        const source = `const input = ${JSON.stringify([secret, data, name])}; ${body}`
        expect(await guest.run(source)).toEqual([...expected])
      }),
      RUNS,
    )
  })

  test('a multipart form comes back as it was', async () => {
    const name = fc.string({ unit: chars('ab "\\;=ü€'), minLength: 1 })
    const body = `const f = new FormData(); for (const [k, v, b] of input) { f.append(k, v); f.append(k, new File([new Uint8Array(b)], k, { type: 'a/b' })) }
      const g = await new Response(f).formData(); const out = []; for (const [k, v] of g) out.push([k, typeof v === 'string' ? v : [v.name, v.type, [...new Uint8Array(await v.arrayBuffer())]]]); return out`
    const plain = words.map((word) => word.replaceAll(/[\r\n]/g, ''))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, plain, bytes), { maxLength: 4 }), async (input) => {
        const expected = input.flatMap(([k, v, b]) => [
          [k, v],
          [k, [k, 'a/b', b]],
        ])
        expect(await guest.run(`const input = ${JSON.stringify(input)}; ${body}`)).toEqual(expected)
      }),
      RUNS,
    )
  })

  test('a multipart body made by Node is understood', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(words, words), { maxLength: 4 }), async (entries) => {
        const form = new FormData()
        for (const [key, value] of entries) form.append(key, value)
        const response = new Response(form)
        const type = response.headers.get('content-type')
        const content = [...new Uint8Array(await response.arrayBuffer())]
        const body = `return [...await new Response(new Uint8Array(${JSON.stringify(content)}), { headers: { 'content-type': ${JSON.stringify(type)} } }).formData()]`
        const read = await guest.run(body)
        expect(read).toEqual([
          ...(await new Response(new Uint8Array(content), {
            headers: { 'content-type': String(type) },
          }).formData()),
        ])
      }),
      RUNS,
    )
  })
})
