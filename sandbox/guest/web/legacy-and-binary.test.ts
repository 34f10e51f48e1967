import {
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'
import { runOnNode } from '#sandbox/guest/testing/platform.ts'

const FORMATS = {
  gzip: { pack: gzipSync, unpack: gunzipSync },
  deflate: { pack: deflateSync, unpack: inflateSync },
  'deflate-raw': { pack: deflateRawSync, unpack: inflateRawSync },
}
const TEXT = 'a text that repeats, a text that repeats: é€😀 '.repeat(50)

/** Bodies of async functions whose answer must be Node's. */
const AS_NODE: Readonly<Record<string, string>> = {
  'domains in many scripts': `return ['B\\u00fccher.de', 'fa\\u00df.de', 'xn--fa-hia.de', '\\u0645\\u062b\\u0627\\u0644.test', 'a\\u0308.test', '\\u2260', 'EXAMPLE\\uff0ecom', 'xn--', 'xn--a\\u00e4', 'a\\u200db', '%C3%BC.test'].map((host) => URL.parse('http://' + host + '/')?.host)`,
  'labels of encodings': `return ['GBK', ' latin1 ', 'x-sjis', 'Big5', 'utf-16', 'koi8-r', 'UTF8', 'unicode11utf8', 'none'].map((label) => { try { return new TextDecoder(label).encoding } catch (error) { return error.name } })`,
  'text in legacy encodings': `return [['gbk', [196, 227, 186, 195]], ['shift_jis', [131, 101, 131, 88]], ['euc-kr', [199, 209]], ['big5', [164, 164]], ['windows-1251', [207, 240]], ['utf-16le', [97, 0, 61, 216, 0, 222]]].map(([label, bytes]) => new TextDecoder(label).decode(new Uint8Array(bytes)))`,
  'legacy text in pieces': `const d = new TextDecoder('gbk'); return d.decode(new Uint8Array([196]), { stream: true }) + d.decode(new Uint8Array([227, 186]), { stream: true }) + d.decode(new Uint8Array([195]))`,
  'UTF-8 in pieces': `const bytes = new TextEncoder().encode('\\ufeffaé€😀z'); const d = new TextDecoder(); let text = ''; for (const byte of bytes) text += d.decode(new Uint8Array([byte]), { stream: true }); return [text + d.decode(), d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))]`,
  'UTF-8 that is malformed, in pieces': `return [[0xf0, 0x9f, 0x41], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0x80]].map((list) => { const d = new TextDecoder(); return list.map((byte) => d.decode(new Uint8Array([byte]), { stream: true })).join('|') + '|' + d.decode() })`,
  'fatal decoding after an error': `const d = new TextDecoder('utf-8', { fatal: true }); const seen = []; for (const bytes of [[0xe2, 0x82], [0x41], [0x62]]) { try { seen.push(d.decode(new Uint8Array(bytes), { stream: true })) } catch (error) { seen.push(error.name) } } return seen`,
  'encodeInto with little room': `return ['aé€😀', '\\ud800x', '😀'].map((text) => [0, 1, 2, 3, 5, 20].map((size) => { const b = new Uint8Array(size); return [new TextEncoder().encodeInto(text, b), [...b]] }))`,
  'a stream of legacy text': `const s = new Blob([new Uint8Array([196, 227, 186]), new Uint8Array([195])]).stream().pipeThrough(new TextDecoderStream('gbk')); let text = ''; for await (const piece of s) text += piece; return text`,
  'media types of bodies': `return Promise.all(['text/html;charset=gbk;CHARSET=x', 'x/y; a="b\\\\"c" ;d=', 'x/y;a="b', ' text/plain ', 'x', 'a/b, text/html;charset=utf-8, text/html'].map(async (type) => (await new Response('', { headers: { 'content-type': type } }).blob()).type))`,
  'a blob URL until it is revoked': `const url = URL.createObjectURL(new Blob(['in it'], { type: 'text/plain' })); const answer = await fetch(url); const text = [await answer.text(), answer.headers.get('content-type')]; URL.revokeObjectURL(url); return [text, await fetch(url).catch((error) => error.name)]`,
  'parts of a blob that change while they are read': `const parts = ['a', { toString() { parts.pop(); return 'b' } }, 'c']; return new Blob(parts).text()`,
}

describe('what a function reads from elsewhere', () => {
  let guest: Guest
  beforeAll(async () => {
    guest = await Guest.open()
  })
  afterAll(() => guest[Symbol.dispose]())

  const bytesOf = async (body: string): Promise<Buffer> =>
    Buffer.from(String(await guest.run(body)), 'base64')
  const through = (stream: string, bytes: Uint8Array, cut = bytes.length): Promise<Buffer> =>
    bytesOf(`
      const bytes = Uint8Array.from(atob('${Buffer.from(bytes).toString('base64')}'), (char) => char.charCodeAt(0))
      const source = ReadableStream.from([bytes.slice(0, ${cut}), bytes.slice(${cut})])
      const out = await new Response(source.pipeThrough(new ${stream})).bytes()
      return out.toBase64 ? out.toBase64() : btoa(String.fromCharCode(...out))`)

  test.each(Object.entries(AS_NODE))('comes out as in Node: %s', async (_name, body) => {
    expect(await guest.run(body)).toEqual(await runOnNode(body))
  })

  describe.each(Object.entries(FORMATS))('compressed as %s', (format, { pack, unpack }) => {
    test('is what Node makes of it, both ways', async () => {
      const packed = await through(`CompressionStream('${format}')`, Buffer.from(TEXT))
      expect(unpack(packed).toString()).toBe(TEXT)
      expect(packed.length).toBeLessThan(200)
      const unpacked = await through(`DecompressionStream('${format}')`, pack(TEXT), 20)
      expect(unpacked.toString()).toBe(TEXT)
    })

    test.each([
      ['ends early', (bytes: Buffer) => bytes.subarray(0, -5)],
      ['is followed by something', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
      [
        'is damaged',
        (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 5), Buffer.alloc(30, 255)]),
      ],
    ])('is a TypeError when it %s', async (_what, change) => {
      const broken = change(pack(TEXT))
      await expect(through(`DecompressionStream('${format}')`, broken)).rejects.toThrow(TypeError)
    })
  })

  test('is decompressed no faster than it is read, however small it came', async () => {
    const bomb = gzipSync(Buffer.alloc(30 * 1024 * 1024)).toString('base64')
    const body = `
      const stream = new DecompressionStream('gzip')
      const writer = stream.writable.getWriter()
      let isWritten = false
      writer.write(Uint8Array.from(atob('${bomb}'), (char) => char.charCodeAt(0))).then(() => { isWritten = true }, () => {})
      const reader = stream.readable.getReader()
      const sizes = []
      for (let at = 0; at < 3; at += 1) sizes.push((await reader.read()).value.length)
      await reader.cancel()
      return [sizes, isWritten]`
    expect(await guest.run(body)).toEqual([[65536, 65536, 65536], false])
  })

  test('keeps no more blobs under URLs than it says', async () => {
    const body = `
      const blob = new Blob(['x'])
      const urls = []
      try { for (;;) urls.push(URL.createObjectURL(blob)) } catch (error) {
        urls.forEach((url) => URL.revokeObjectURL(url))
        return [urls.length, error.name, URL.createObjectURL(blob).slice(0, 10)]
      }`
    expect(await guest.run(body)).toEqual([10_000, 'RangeError', 'blob:null/'])
  })
})
