import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'
import { runOnNode, sendWithNode, startEcho } from '#sandbox/guest/testing/platform.ts'

/** Bodies of async functions that return JSON-able data. */
type Cases = Readonly<Record<string, string>>

const URLS: Cases = {
  'parts of a URL': `const u = new URL('https://user:pa%20ss@Example.COM:8080/a/../b/./c?x=1&y=2#frag'); return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]`,
  'a relative URL': `return [new URL('../x?y#z', 'http://a.b/c/d/e').href, new URL('//h/p', 'https://a').href, new URL('?q', 'http://a/b?c#d').href]`,
  'IPv4 in odd notations': `return ['http://0x7f.1/', 'http://127.1', 'http://1', 'http://0300.0250.0.1'].map((x) => new URL(x).host)`,
  IPv6: `return [new URL('http://[::1]:80/').host, new URL('http://[2001:db8:0:0:1:0:0:1]/').host, new URL('http://[::ffff:1.2.3.4]/').host]`,
  'an internationalised host': `return [new URL('http://bücher.example/ü?ä#ö').href, new URL('http://faß.de').host, new URL('http://☕.example').host]`,
  'setters of a URL': `const u = new URL('http://a.b/c'); u.port = '99'; u.pathname = 'x y'; u.search = 'q=ü'; u.hash = 'h h'; u.protocol = 'https'; u.host = 'c.d:443'; u.username = 'me'; return u.href`,
  'URLs that are refused': `return ['', 'nope', 'http://', 'http://a b', 'http://[::1', 'http://a:99999', 'http://%zz/'].map((x) => { try { return new URL(x).href } catch (e) { return e.name } })`,
  'URL.canParse and URL.parse': `return [URL.canParse('a:b'), URL.canParse('x'), URL.canParse('x', 'http://a'), URL.parse('x'), URL.parse('/p', 'http://a').href]`,
  'schemes that are not special': `return ['mailto:a@b', 'data:text/plain,hi', 'javascript:alert(1)', 'file:///a/../b', 'custom://H/p?q'].map((x) => new URL(x).href)`,
  'dot segments and backslashes': `return ['http://a/%2e/b', 'http://a/b/..', 'http://a\\\\b\\\\c', 'http:\\\\\\\\x/y', 'http://a/.//b'].map((x) => new URL(x).href)`,
  'tabs and spaces around a URL': `return new URL('  ht\\ntp://a/\\tb  ').href`,
  'default ports': `return ['http://a:80', 'https://a:443/', 'http://a:443', 'ws://a:80'].map((x) => new URL(x).href)`,
  'URL in JSON': `return JSON.stringify({ u: new URL('http://a/b') })`,
  'search parameters of many kinds': `return [new URLSearchParams('?a=1&b=%20+x&a=2').toString(), new URLSearchParams({ a: 'ü', b: '&=' }).toString(), new URLSearchParams([['x', '1'], ['x', '2']]).toString(), String(new URLSearchParams(new URLSearchParams('q=1')))]`,
  'changing search parameters': `const p = new URLSearchParams('a=1&b=2&a=3'); p.append('c', '4'); p.set('a', '9'); p.delete('b'); p.sort(); return [p.toString(), p.get('a'), p.getAll('a'), p.has('c', '4'), p.has('c', '5'), p.size, p.get('no')]`,
  'iterating search parameters': `const p = new URLSearchParams('a=1&b=2'); const seen = []; p.forEach((v, k) => seen.push(k + v)); return [[...p], [...p.keys()], [...p.values()], seen]`,
  'parameters of a URL are live': `const u = new URL('http://a/?x=1'); u.searchParams.append('y', 'z w'); const first = u.href; u.search = '?q=2'; return [first, u.searchParams.get('q'), u.searchParams.has('x')]`,
  'escapes in search parameters': `return new URLSearchParams([["a b'!()*~", 'é+/?&=%']]).toString()`,
  'lone surrogates in search parameters': `return new URLSearchParams([['a', '\\ud800x']]).toString()`,
  'bad search parameters': `try { new URLSearchParams([['a']]) } catch (e) { return e.name }`,
}

const ENCODING: Cases = {
  'encoding text': `return [...new TextEncoder().encode('aé€😀\\ud800')]`,
  'encoding nothing': `const e = new TextEncoder(); return [e.encode().length, e.encode('').length, e.encode(undefined).length, e.encoding]`,
  'encodeInto that fits': `const b = new Uint8Array(10); const r = new TextEncoder().encodeInto('aé€', b); return [r, [...b]]`,
  'encodeInto that does not fit': `const b = new Uint8Array(4); const r = new TextEncoder().encodeInto('a😀é', b); return [r, [...b]]`,
  'decoding well-formed text': `return new TextDecoder().decode(new Uint8Array([97, 195, 169, 226, 130, 172, 240, 159, 152, 128]))`,
  'decoding malformed text': `return new TextDecoder().decode(new Uint8Array([255, 97, 192, 128, 226, 130, 240, 159]))`,
  'a byte order mark': `const b = new Uint8Array([239, 187, 191, 97]); return [new TextDecoder().decode(b).length, new TextDecoder('utf-8', { ignoreBOM: true }).decode(b).length]`,
  'fatal decoding': `try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name }`,
  'decoding in pieces': `const d = new TextDecoder(); return d.decode(new Uint8Array([226, 130]), { stream: true }) + d.decode(new Uint8Array([172]), { stream: true }) + d.decode()`,
  'UTF-16': `return [new TextDecoder('utf-16le').decode(new Uint8Array([97, 0, 61, 216, 0, 222])), new TextDecoder('utf-16').encoding]`,
  'latin1 and its names': `return [new TextDecoder('latin1').encoding, new TextDecoder('iso-8859-1').decode(new Uint8Array([128, 233])), new TextDecoder(' UTF8 ').encoding]`,
  'an unknown encoding': `try { new TextDecoder('nope') } catch (e) { return e.name }`,
  'decoding a DataView and a buffer': `const b = new Uint8Array([104, 105]).buffer; return [new TextDecoder().decode(b), new TextDecoder().decode(new DataView(b, 1)), new TextDecoder().decode()]`,
  'atob and btoa': `return [btoa('hello'), atob('aGVsbG8='), btoa(''), atob(' aGV sbG8 '), btoa('\\xff\\x00'), atob('YQ')]`,
  'atob of what is not base64': `return ['a', 'ab=c', '=', 'a===', 'ab*d', 'abc=='].map((x) => { try { return atob(x) } catch (e) { return [e.name, e.code] } })`,
  'btoa of wide characters': `try { btoa('€') } catch (e) { return [e.name, e.code, e instanceof DOMException] }`,
  'atob of other types': `return [btoa(null), btoa(12), atob(null)]`,
  'text streams': `const s = new Blob(['a€', 'b']).stream().pipeThrough(new TextDecoderStream()); let t = ''; for await (const c of s) t += c; return t`,
  'an encoder stream with a split pair': `const s = new TextEncoderStream(); const w = s.writable.getWriter(); w.write('a\\ud83d'); w.write('\\ude00'); w.close(); const out = []; for await (const c of s.readable) out.push(...c); return out`,
}

const HEADERS: Cases = {
  'building headers': `return [[...new Headers({ B: '2', a: ' 1 ' })], [...new Headers([['x', '1'], ['X', '2']])], [...new Headers(new Headers({ q: 'r' }))]]`,
  'changing headers': `const h = new Headers(); h.append('A', '1'); h.append('a', '2'); h.set('b', '3'); h.delete('c'); return [h.get('A'), h.has('B'), h.get('zz'), [...h.keys()], [...h.values()]]`,
  cookies: `const h = new Headers(); h.append('set-cookie', 'a=1'); h.append('Set-Cookie', 'b=2'); h.append('a', 'x'); return [h.getSetCookie(), [...h], h.get('set-cookie')]`,
  'headers that are refused': `return [() => new Headers([['a']]), () => new Headers({ 'a b': '1' }), () => new Headers({ a: 'x\\ny' }), () => new Headers({ a: '€' }), () => new Headers(null), () => new Headers('x'), () => new Headers().append('', 'x'), () => new Headers().get()].map((f) => { try { f(); return 'none' } catch (e) { return e.name } })`,
  'forEach of headers': `const seen = []; new Headers({ b: '1', a: '2' }).forEach(function (v, k, h) { seen.push([k, v, h instanceof Headers, this.x]) }, { x: 7 }); return seen`,
  'changing headers while iterating': `const h = new Headers({ a: '1', b: '2', c: '3' }); const seen = []; for (const [k] of h) { seen.push(k); if (k === 'a') h.delete('b') } return seen`,
  'setting a header twice': `const h = new Headers([['a', '1'], ['b', '2'], ['a', '3']]); h.set('A', '9'); return [...h]`,
}

const BODIES: Cases = {
  'a plain response': `const r = new Response('hi'); return [r.status, r.ok, r.statusText, r.type, r.url, r.redirected, r.headers.get('content-type'), await r.text(), r.bodyUsed]`,
  'a response with options': `const r = new Response(null, { status: 404, statusText: 'No', headers: { a: 'b' } }); return [r.status, r.ok, r.statusText, [...r.headers], r.body, await r.text()]`,
  'Response.json': `const r = Response.json({ a: [1] }, { status: 201, headers: { x: 'y' } }); return [r.status, [...r.headers], await r.json()]`,
  'Response.json of nothing': `try { Response.json(undefined) } catch (e) { return e.name }`,
  'Response.error and Response.redirect': `const e = Response.error(); const r = Response.redirect('http://a/b', 307); return [e.type, e.status, r.status, r.headers.get('location')]`,
  'bad redirects': `return [() => Response.redirect('http://a', 200), () => Response.redirect('nope')].map((f) => { try { f() } catch (e) { return e.name } })`,
  'statuses that are refused': `return [199, 600, 1000, 'x', 99].map((status) => { try { new Response('', { status }); return 'ok' } catch (e) { return e.name } })`,
  'a body where there must be none': `return [204, 205, 304].map((status) => { try { new Response('x', { status }); return 'ok' } catch (e) { return e.name } })`,
  'reading a body twice': `const r = new Response('x'); await r.text(); try { await r.text() } catch (e) { return [e.name, r.bodyUsed] }`,
  'an empty body read twice': `const r = new Response(); await r.text(); return [await r.text(), r.bodyUsed, r.body]`,
  'cloning a response': `const r = new Response('abc', { headers: { a: '1' } }); const c = r.clone(); return [await r.text(), await c.text(), c.headers.get('a')]`,
  'cloning a used response': `const r = new Response('abc'); await r.text(); try { r.clone() } catch (e) { return e.name }`,
  'cloning a streamed response': `const r = new Response(new Blob(['abc']).stream()); const c = r.clone(); return [await c.text(), await r.text()]`,
  'kinds of bodies': `const out = []; for (const b of ['é', new Uint8Array([1, 2, 255]), new Uint8Array([1, 2, 3, 4]).subarray(1, 3), new Uint8Array([9]).buffer, new Blob(['b'], { type: 'text/x' }), new URLSearchParams('a=1&b=ü'), 42, { toString: () => 'obj' }]) { const r = new Response(b); out.push([r.headers.get('content-type'), [...new Uint8Array(await r.arrayBuffer())]]) } return out`,
  'a body as json, bytes and blob': `const b = await new Response('x', { headers: { 'content-type': 'Text/Plain; Charset=utf-8' } }).blob(); return [await new Response('{"a":1}').json(), [...await new Response('ab').bytes()], b.type, b.size, await b.text()]`,
  'malformed json': `try { await new Response('{').json() } catch (e) { return e.name }`,
  'a byte order mark in a body': `return [await new Response(new Uint8Array([239, 187, 191, 123, 125])).json(), (await new Response('\\ufeffab').text()).length]`,
  'streaming a body': `const r = new Response('streamed'); const reader = r.body.getReader(); const { value } = await reader.read(); const end = await reader.read(); return [new TextDecoder().decode(value), end.done, r.bodyUsed]`,
  'a body of a stream': `const s = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('a')); c.enqueue(new TextEncoder().encode('b')); c.close() } }); const r = new Response(s); return [r.headers.get('content-type'), await r.text()]`,
  'a stream of wrong chunks': `try { await new Response(new ReadableStream({ start(c) { c.enqueue('text'); c.close() } })).text() } catch (e) { return e.name }`,
  'a stream that fails': `try { await new Response(new ReadableStream({ start(c) { c.error(new RangeError('x')) } })).text() } catch (e) { return e.name }`,
  'a locked stream as a body': `const s = new ReadableStream(); s.getReader(); try { new Response(s) } catch (e) { return e.name }`,
  'a body locked by a reader': `const r = new Response('x'); r.body.getReader(); try { await r.text() } catch (e) { return [e.name, r.bodyUsed] }`,
  'an async iterable as a body': `return await new Response((async function* () { yield new TextEncoder().encode('x'); yield new TextEncoder().encode('y') })()).text()`,
  'mutability of headers': `const r = Response.redirect('http://a'); try { r.headers.set('a', 'b') } catch (e) { return e.name }`,
  'a request': `const r = new Request('http://A.b/c?d#e', { method: 'post', headers: { x: 'y' }, body: 'q' }); return [r.method, r.url, r.headers.get('x'), r.headers.get('content-type'), await r.text(), r.redirect, r.mode, r.credentials, r.cache, r.integrity, r.keepalive, r.referrer, r.referrerPolicy, r.destination, r.duplex]`,
  'methods of a request': `return ['get', 'Head', 'patch', 'PoSt', 'x-y'].map((method) => new Request('http://a', { method }).method)`,
  'requests that are refused': `return [() => new Request('x'), () => new Request('http://u:p@a'), () => new Request('http://a', { method: 'TRACE' }), () => new Request('http://a', { method: 'a b' }), () => new Request('http://a', { body: 'x' }), () => new Request('http://a', { method: 'HEAD', body: '' }), () => new Request('http://a', { redirect: 'maybe' }), () => new Request('http://a', { signal: {} }), () => new Request()].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'a request from a request': `const a = new Request('http://a/', { method: 'PUT', body: 'x', headers: { q: '1' } }); const b = new Request(a, { headers: { z: '2' } }); return [b.method, b.headers.get('q'), b.headers.get('z'), await b.text(), a.bodyUsed]`,
  'a request from a used request': `const a = new Request('http://a/', { method: 'PUT', body: 'x' }); await a.text(); try { new Request(a) } catch (e) { return e.name }`,
  'cloning a request': `const a = new Request('http://a/', { method: 'PUT', body: 'x' }); const b = a.clone(); return [await a.text(), await b.text(), b.url, b.method]`,
  'the signal of a request': `const c = new AbortController(); const r = new Request('http://a', { signal: c.signal }); const seen = []; r.signal.addEventListener('abort', () => seen.push(r.signal.reason)); c.abort('why'); return [seen, r.signal.aborted, new Request('http://a').signal.aborted]`,
  'a URL object as a request': `return [new Request(new URL('http://a/b')).url, new Request({ toString: () => 'http://c' }).url]`,
}

const FORMS: Cases = {
  'a form': `const f = new FormData(); f.append('a', '1'); f.append('a', 2); f.set('b', 'x'); f.append('c', new Blob(['hi'], { type: 'text/plain' }), 'n.txt'); f.delete('zz'); return [[...f].map(([k, v]) => [k, typeof v === 'string' ? v : [v.name, v.type, v.size]]), f.get('a'), f.getAll('a'), f.has('c'), f.get('no'), [...f.keys()]]`,
  'setting in a form': `const f = new FormData(); for (const k of ['a', 'b', 'a', 'c']) f.append(k, k); f.set('a', 'z'); return [...f]`,
  'a blob in a form becomes a file': `const f = new FormData(); f.append('a', new Blob(['x'])); f.append('b', new File(['y'], 'f.txt', { type: 'text/css', lastModified: 5 })); const a = f.get('a'); const b = f.get('b'); return [a instanceof File, a.name, b.name, b.lastModified, b.type]`,
  'forms that are refused': `return [() => new FormData('x'), () => new FormData().append('a'), () => new FormData().append('a', 'b', 'c'), () => new FormData().get()].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'a form there and back': `const f = new FormData(); f.append('naïve "q"', 'line\\nnext\\r\\nend'); f.append('file', new File([new Uint8Array([0, 255, 13, 10, 45, 45])], 'ü "x".bin', { type: 'application/x' })); const r = new Response(f); const type = r.headers.get('content-type').split(';')[0]; const g = await r.formData(); const file = g.get('file'); return [type, [...g.keys()], g.get('naïve "q"'), file.name, file.type, [...new Uint8Array(await file.arrayBuffer())]]`,
  'a written multipart body': `const b = '--x\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\n1\\r\\n--x\\r\\ncontent-disposition: form-data; name="f"; filename="t.txt"\\r\\nContent-Type: text/plain\\r\\n\\r\\nhi\\r\\n--x--\\r\\n'; const f = await new Response(b, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData(); return [f.get('a'), f.get('f').name, f.get('f').type, await f.get('f').text()]`,
  'parameters of a part': `const out = []; for (const d of ['name=title', 'name=title; filename=a.txt', 'filename=a.txt; name="title"', 'NAME=title', 'name=', 'name="a;b"; x=y', 'name=t; filename="a;b.txt"', 'xname=t', 'xname="t"', 'name="t', 'name = t', "name='t'", 'name=a; name=b', 'filename="x; name=evil"; name="good"', 'name="t"; filename=']) { try { const b = '--x\\r\\nContent-Disposition: form-data; ' + d + '\\r\\n\\r\\n1\\r\\n--x--\\r\\n'; const f = await new Response(b, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData(); out.push([...f].map(([k, v]) => [k, typeof v === 'string' ? v : [v.name, v.type]])) } catch (e) { out.push(e.name) } } return out`,
  'malformed multipart bodies': `const out = []; for (const b of ['', 'x', '--x', '--x\\r\\n', '--x\\r\\n\\r\\nno name\\r\\n--x--', '--x\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\n1']) { try { await new Response(b, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData(); out.push('ok') } catch (e) { out.push(e.name) } } return out`,
  'a urlencoded body': `return [...await new Response(new URLSearchParams('a=1&b=%C3%BC+x&a=2')).formData()]`,
  'a body that is no form': `try { await new Response('x').formData() } catch (e) { return e.name }`,
  'a quoted boundary': `const b = '--a b\\r\\nContent-Disposition: form-data; name="k"\\r\\n\\r\\nv\\r\\n--a b--'; return (await new Response(b, { headers: { 'content-type': 'multipart/form-data; boundary="a b"' } }).formData()).get('k')`,
}

const BLOBS: Cases = {
  'a blob of many parts': `const b = new Blob(['a', new Uint8Array([98]), new Uint8Array([99]).buffer, new Blob(['d']), 5], { type: 'Text/PLAIN' }); return [b.size, b.type, await b.text(), [...new Uint8Array(await b.arrayBuffer())], [...await b.bytes()]]`,
  'slices of a blob': `const b = new Blob(['hello']); return Promise.all([b.slice(1, 3), b.slice(-2), b.slice(2), b.slice(4, 1), b.slice(0, 99), b.slice()].map((x) => x.text()))`,
  'the type of a slice': `const b = new Blob(['hello'], { type: 'a/b' }); return [b.slice(0, 1).type, b.slice(0, 1, 'X/Y').type, b.slice(0, 1, 'b\\u00e9').type]`,
  'a file': `const f = new File(['abc'], 'n', { type: 'x/y', lastModified: 7 }); return [f.name, f.size, f.type, f.lastModified, f instanceof Blob, await f.text()]`,
  'blobs that are refused': `return [() => new Blob('x'), () => new Blob(5), () => new File([]), () => new Blob([], 5), () => new Blob([], { endings: 'x' })].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'a blob as a stream': `const out = []; for await (const c of new Blob(['ab', 'cd']).stream()) out.push(...c); return out`,
  'types of blobs': `return ['text/html', 'TEXT/x', 'a\\u0001', '\\u00e9', null, 5].map((type) => new Blob([], { type }).type)`,
}

const EVENTS: Cases = {
  'an event': `const e = new Event('x', { bubbles: true, cancelable: true }); return [e.type, e.bubbles, e.cancelable, e.composed, e.defaultPrevented, e.eventPhase, e.target, e.isTrusted, typeof e.timeStamp, Event.AT_TARGET]`,
  dispatching: `const t = new EventTarget(); const seen = []; t.addEventListener('a', function (e) { seen.push([e.type, this === t, e.target === t, e.currentTarget === t, e.eventPhase, e.composedPath().length]) }); const ok = t.dispatchEvent(new Event('a')); return [seen, ok]`,
  'once, removal and duplicates': `const t = new EventTarget(); let n = 0; const f = () => n++; t.addEventListener('a', f); t.addEventListener('a', f); t.addEventListener('a', () => n++, { once: true }); t.dispatchEvent(new Event('a')); t.dispatchEvent(new Event('a')); t.removeEventListener('a', f); t.dispatchEvent(new Event('a')); return n`,
  'preventing the default': `const t = new EventTarget(); t.addEventListener('a', (e) => e.preventDefault()); t.addEventListener('p', (e) => e.preventDefault(), { passive: true }); return [t.dispatchEvent(new Event('a', { cancelable: true })), t.dispatchEvent(new Event('a')), t.dispatchEvent(new Event('p', { cancelable: true }))]`,
  'stopping at once': `const t = new EventTarget(); const s = []; t.addEventListener('a', (e) => { s.push(1); e.stopImmediatePropagation() }); t.addEventListener('a', () => s.push(2)); t.dispatchEvent(new Event('a')); return s`,
  'an object as a listener': `const t = new EventTarget(); const o = { n: 0, handleEvent() { this.n++ } }; t.addEventListener('a', o); t.dispatchEvent(new Event('a')); return o.n`,
  'a listener tied to a signal': `const t = new EventTarget(); const c = new AbortController(); let n = 0; t.addEventListener('a', () => n++, { signal: c.signal }); t.dispatchEvent(new Event('a')); c.abort(); t.dispatchEvent(new Event('a')); t.addEventListener('a', () => n++, { signal: AbortSignal.abort() }); t.dispatchEvent(new Event('a')); return n`,
  'listeners added and removed during dispatch': `const t = new EventTarget(); const s = []; const b = () => s.push('b'); t.addEventListener('a', () => { s.push('a'); t.removeEventListener('a', b); t.addEventListener('a', () => s.push('c')) }); t.addEventListener('a', b); t.dispatchEvent(new Event('a')); return s`,
  'a custom event': `const e = new CustomEvent('x', { detail: { a: 1 } }); return [e.detail, new CustomEvent('y').detail, e instanceof Event, e.type]`,
  'events that are refused': `return [() => new Event(), () => new EventTarget().dispatchEvent({}), () => new EventTarget().addEventListener('a'), () => { const t = new EventTarget(); const e = new Event('a'); t.addEventListener('a', () => t.dispatchEvent(e)); let err; t.addEventListener('b', () => {}); try { t.dispatchEvent({}) } catch (x) { throw x } }].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'a subclass of EventTarget': `class T extends EventTarget { go() { return this.dispatchEvent(new Event('q')) } } const t = new T(); let n = 0; t.addEventListener('q', () => n++); return [t.go(), n]`,
  aborting: `const c = new AbortController(); const s = []; c.signal.onabort = (e) => s.push(['on', e.type]); c.signal.addEventListener('abort', () => s.push('listener')); c.abort(); c.abort('again'); return [s, c.signal.aborted, c.signal.reason.name, c.signal.reason.code, c.signal.reason instanceof DOMException]`,
  'aborting with a reason': `const c = new AbortController(); c.abort({ why: 1 }); try { c.signal.throwIfAborted() } catch (e) { return [e, AbortSignal.abort('x').reason, AbortSignal.abort().reason.name] }`,
  'AbortSignal.any': `const a = new AbortController(); const b = new AbortController(); const s = AbortSignal.any([a.signal, b.signal]); let n = 0; s.addEventListener('abort', () => n++); b.abort('b'); a.abort('a'); return [s.aborted, s.reason, n, AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort('z')]).reason]`,
  'AbortSignal.timeout': `const s = AbortSignal.timeout(5); const before = s.aborted; await new Promise((r) => s.addEventListener('abort', r)); return [before, s.aborted, s.reason.name, s.reason.code]`,
  'signals that are refused': `return [() => new AbortSignal(), () => AbortSignal.any([{}]), () => AbortSignal.timeout(-1)].map((f) => { try { f(); return 'ok' } catch (e) { return e instanceof Error } })`,
  'a DOMException': `const e = new DOMException('m', 'NotFoundError'); return [e.name, e.message, e.code, String(e), e instanceof Error, DOMException.NOT_FOUND_ERR, new DOMException().name, new DOMException('x', 'Odd').code, e.DATA_CLONE_ERR, Object.prototype.toString.call(e)]`,
  'the cause of a DOMException': `const e = new DOMException('m', { name: 'AbortError', cause: 5 }); return [e.name, e.cause, 'cause' in new DOMException('q')]`,
}

const STREAMS: Cases = {
  'reading a stream': `const s = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close() } }); const r = s.getReader(); return [await r.read(), await r.read(), await r.read(), s.locked]`,
  'iterating a stream': `const out = []; for await (const x of ReadableStream.from([1, 2, 3])) out.push(x); return out`,
  'a stream through a transform': `const t = new TransformStream({ transform(x, c) { c.enqueue(x * 2) }, flush(c) { c.enqueue('end') } }); const out = []; for await (const x of ReadableStream.from([1, 2]).pipeThrough(t)) out.push(x); return out`,
  'writing a stream': `const out = []; const w = new WritableStream({ write(x) { out.push(x) }, close() { out.push('closed') } }).getWriter(); await w.write(1); await w.write(2); await w.close(); return out`,
  'teeing a stream': `const [a, b] = ReadableStream.from([1, 2]).tee(); const read = async (s) => { const o = []; for await (const x of s) o.push(x); return o }; return Promise.all([read(a), read(b)])`,
  'piping until aborted': `const c = new AbortController(); const p = new ReadableStream({ pull(k) { k.enqueue(1); c.abort() } }).pipeTo(new WritableStream(), { signal: c.signal }); try { await p } catch (e) { return [e.name, e instanceof DOMException] }`,
  'a byte stream read into a buffer': `const s = new ReadableStream({ type: 'bytes', start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.close() } }); const r = s.getReader({ mode: 'byob' }); const { value } = await r.read(new Uint8Array(2)); return [...value]`,
  'a blob read into a buffer': `const r = new Blob(['abcd']).stream().getReader({ mode: 'byob' }); const one = await r.read(new Uint8Array(3)); return [...one.value]`,
  strategies: `return [new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark, new ByteLengthQueuingStrategy({ highWaterMark: 5 }).size(new Uint8Array(7)), new CountQueuingStrategy({ highWaterMark: 1 }).size()]`,
  'cancelling a stream': `let why; const s = new ReadableStream({ cancel(r) { why = r } }); await s.cancel('done'); return why`,
  'an error in a stream': `const s = new ReadableStream({ start(c) { c.error(new TypeError('x')) } }); try { await s.getReader().read() } catch (e) { return e.name }`,
}

const CLONES: Cases = {
  'plain data': `const o = { a: [1, , 3], b: null, c: undefined, d: -0, e: 1n.toString(), f: { g: 'x' } }; const c = structuredClone(o); return [c, 1 in c.a, c.a.length, Object.is(c.d, -0), 'c' in c]`,
  'dates, patterns, maps and sets': `const c = structuredClone({ d: new Date(5), r: /a+/gi, m: new Map([['k', { v: 1 }]]), s: new Set([1, 'x']) }); return [c.d.getTime(), c.r.source, c.r.flags, [...c.m], [...c.s], c.d instanceof Date]`,
  'cycles and sameness': `const o = { list: [] }; o.me = o; o.list.push(o, o.list); const c = structuredClone(o); return [c.me === c, c.list[0] === c, c.list[1] === c.list, c !== o]`,
  errors: `const e = new RangeError('m', { cause: { a: 1 } }); e.extra = 1; const c = structuredClone(e); return [c.name, c.message, c instanceof RangeError, c.cause, c.extra, c.stack === e.stack]`,
  'errors of unknown classes': `class Mine extends Error { name = 'Mine' } const c = structuredClone(new Mine('m')); return [c.name, c.message, c.constructor === Error]`,
  'buffers and views': `const b = new Uint8Array([1, 2, 3, 4]).buffer; const c = structuredClone({ b, v: new Uint16Array(b, 2, 1), d: new DataView(b, 1) }); return [c.v.buffer === c.b, c.v.byteOffset, c.v.length, c.d.byteLength, c.d.buffer === c.b, [...new Uint8Array(c.b)], c.b !== b]`,
  'boxed values': `const c = structuredClone([new Number(1), new String('s'), new Boolean(false), Object(2n)]); return c.map((x) => [typeof x, Object.prototype.toString.call(x), String(x)])`,
  'what cannot be cloned': `return [() => {}, Symbol('x'), { f() {} }, [Symbol.iterator], new WeakMap(), Promise.resolve(), new WeakSet(), new WeakRef({})].map((x) => { try { structuredClone(x); return 'ok' } catch (e) { return [e.name, e.code, e instanceof DOMException] } })`,
  'prototypes are dropped': `class A { x = 1; get y() { return 2 } } const c = structuredClone(new A()); return [c, c.constructor === Object]`,
  'getters and symbols': `const s = Symbol(); const c = structuredClone({ get a() { return 1 }, [s]: 2 }); return [c, Object.getOwnPropertySymbols(c).length, Object.getOwnPropertyDescriptor(c, 'a').value]`,
  'a key called __proto__': `const c = structuredClone(JSON.parse('{"__proto__": {"x": 1}}')); return [Object.hasOwn(c, '__proto__'), c.x === undefined, JSON.stringify(c)]`,
  'transferring a buffer': `const b = new Uint8Array([1, 2]).buffer; const c = structuredClone(b, { transfer: [b] }); return [b.byteLength, b.detached, c.byteLength]`,
  'bad transfers': `const b = new ArrayBuffer(1); return [[{}], [b, b]].map((transfer) => { try { structuredClone(1, { transfer }) ; return 'ok' } catch (e) { return e.name } })`,
  'made-up tags': `return structuredClone({ [Symbol.toStringTag]: 'Map', a: 1 })`,
  'extra properties of arrays': `const a = [1]; a.x = 2; const c = structuredClone(a); return [c.x, Array.isArray(c), Object.keys(c)]`,
  'blobs and files': `const c = structuredClone(new File(['abc'], 'n', { type: 'a/b' })); return [c instanceof File, c.name, await c.text()]`,
  'a clone without argument': `try { structuredClone() } catch (e) { return e.name }`,
}

const TIMERS: Cases = {
  'the order of timers and microtasks': `const s = []; await new Promise((done) => { setTimeout(() => { s.push('timer'); done() }, 0); queueMicrotask(() => s.push('micro')); Promise.resolve().then(() => s.push('then')); s.push('sync') }); return s`,
  'arguments of timers': `return await new Promise((r) => setTimeout((...a) => r(a), 1, 'x', 2))`,
  'clearing a timer': `let n = 0; const t = setTimeout(() => n++, 1); clearTimeout(t); clearTimeout(undefined); clearTimeout(null); clearTimeout(123456); await new Promise((r) => setTimeout(r, 20)); return n`,
  'an interval': `let n = 0; await new Promise((r) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r() } }, 1) }); return n`,
  'microtasks that are refused': `return [() => queueMicrotask(), () => queueMicrotask('x')].map((f) => { try { f() } catch (e) { return e.name } })`,
  'the order of delays': `const s = []; await new Promise((r) => { setTimeout(() => { s.push('late'); r() }, 40); setTimeout(() => s.push('early'), 5) }); return s`,
}

const CRYPTO: Cases = {
  digests: `const out = {}; for (const a of ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512']) { const d = new Uint8Array(await crypto.subtle.digest(a, new TextEncoder().encode('abc'))); out[a.name ?? a] = [...d].map((x) => x.toString(16).padStart(2, '0')).join('') } return out`,
  'digests that are refused': `const out = []; for (const f of [() => crypto.subtle.digest('MD5', new Uint8Array()), () => crypto.subtle.digest('SHA-256', 'text'), () => crypto.subtle.digest({}, new Uint8Array())]) { try { await f(); out.push('ok') } catch (e) { out.push(e.name) } } return out`,
  'signing with HMAC': `const k = await crypto.subtle.importKey('raw', new TextEncoder().encode('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']); const s = await crypto.subtle.sign('HMAC', k, new TextEncoder().encode('data')); return [[...new Uint8Array(s)], await crypto.subtle.verify('HMAC', k, s, new TextEncoder().encode('data')), await crypto.subtle.verify('HMAC', k, s, new TextEncoder().encode('datA')), await crypto.subtle.verify('HMAC', k, new Uint8Array(3), new TextEncoder().encode('data'))]`,
  'a key': `const k = await crypto.subtle.importKey('raw', new Uint8Array(20), { name: 'hmac', hash: { name: 'sha-512' } }, true, ['verify', 'sign', 'sign']); return [k.type, k.extractable, k.algorithm, k.usages, k instanceof CryptoKey, Object.prototype.toString.call(k)]`,
  'a key as JWK': `const k = await crypto.subtle.importKey('raw', new Uint8Array([1, 2, 251, 255]), { name: 'HMAC', hash: 'SHA-384' }, true, ['sign']); const jwk = await crypto.subtle.exportKey('jwk', k); const back = await crypto.subtle.importKey('jwk', jwk, { name: 'HMAC', hash: 'SHA-384' }, true, ['sign']); return [jwk, [...new Uint8Array(await crypto.subtle.exportKey('raw', back))]]`,
  'keys that are refused': `const h = { name: 'HMAC', hash: 'SHA-256' }; const out = []; for (const f of [() => crypto.subtle.importKey('raw', new Uint8Array(), h, true, ['sign']), () => crypto.subtle.importKey('raw', new Uint8Array(5), h, true, []), () => crypto.subtle.importKey('raw', new Uint8Array(5), h, true, ['encrypt']), () => crypto.subtle.importKey('raw', new Uint8Array(5), h, true, ['fly']), () => crypto.subtle.importKey('raw', new Uint8Array(5), { name: 'HMAC' }, true, ['sign']), () => crypto.subtle.importKey('jwk', { kty: 'RSA' }, h, true, ['sign']), () => crypto.subtle.importKey('jwk', { kty: 'oct', k: 'AA', alg: 'HS512' }, h, true, ['sign']), () => crypto.subtle.importKey('spki', new Uint8Array(5), h, true, ['sign']), () => crypto.subtle.importKey('raw', new Uint8Array(5), { name: 'Nope' }, true, ['sign'])]) { try { await f(); out.push('ok') } catch (e) { out.push(e.name) } } return out`,
  'a key that does not leave': `const k = await crypto.subtle.importKey('raw', new Uint8Array(5), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']); const out = []; for (const f of [() => crypto.subtle.exportKey('raw', k), () => crypto.subtle.sign('HMAC', k, new Uint8Array()), () => crypto.subtle.sign('HMAC', {}, new Uint8Array())]) { try { await f() } catch (e) { out.push(e.name) } } return out`,
  'generated keys': `const out = []; for (const a of [{ name: 'HMAC', hash: 'SHA-1' }, { name: 'HMAC', hash: 'SHA-512' }, { name: 'HMAC', hash: 'SHA-256', length: 128 }]) { const k = await crypto.subtle.generateKey(a, true, ['sign']); out.push([k.algorithm, (await crypto.subtle.exportKey('raw', k)).byteLength]) } return out`,
  'random values': `const a = crypto.getRandomValues(new Uint8Array(32)); const b = new Uint32Array(4); return [a.some((x) => x > 0), crypto.getRandomValues(b) === b, crypto.getRandomValues(new BigUint64Array(1)).length, crypto.getRandomValues(new Uint8Array(0)).length]`,
  'random values that are refused': `return [() => crypto.getRandomValues(new Uint8Array(65537)), () => crypto.getRandomValues(new Float64Array(1)), () => crypto.getRandomValues([1])].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'a UUID': `const u = crypto.randomUUID(); return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u), u !== crypto.randomUUID()]`,
  'a forged key': `const out = []; try { new CryptoKey() } catch (e) { out.push(e.name) } try { await crypto.subtle.sign('HMAC', Object.create(CryptoKey.prototype), new Uint8Array()) } catch (e) { out.push(e.name) } return out`,
  'illegal constructors': `return [() => new Crypto(), () => new SubtleCrypto(), () => new Navigator(), () => new Performance()].map((f) => { try { f() } catch (e) { return e.name } })`,
}

const FETCHES: Cases = {
  'a GET': `const r = await fetch(ORIGIN + '/echo?x=1'); return [r.status, r.ok, r.headers.get('x-echo'), r.type, r.redirected, r.url === ORIGIN + '/echo?x=1', (await r.json()).path]`,
  'a POST of text': `return await (await fetch(ORIGIN + '/echo', { method: 'POST', body: 'hé', headers: { 'x-mine': 'me' } })).json()`,
  'a POST of bytes': `return await (await fetch(ORIGIN + '/echo', { method: 'PUT', body: new Uint8Array([0, 255, 7]) })).json()`,
  'a POST of parameters': `return await (await fetch(new Request(ORIGIN + '/echo', { method: 'POST', body: new URLSearchParams({ a: 'b c' }) }))).json()`,
  'a redirect': `const r = await fetch(ORIGIN + '/to/echo'); return [r.redirected, r.url === ORIGIN + '/echo', r.status]`,
  'a redirect by hand': `const r = await fetch(ORIGIN + '/to/echo', { redirect: 'manual' }); return [r.status, r.headers.get('location')]`,
  'a redirect that is an error': `try { await fetch(ORIGIN + '/to/echo', { redirect: 'error' }) } catch (e) { return e.name }`,
  'an error status': `const r = await fetch(ORIGIN + '/status/503'); return [r.status, r.ok]`,
  'an answer without a body': `const r = await fetch(ORIGIN + '/status/204'); return [r.status, r.body, await r.text()]`,
  'an aborted fetch': `const c = new AbortController(); c.abort('no'); try { await fetch(ORIGIN, { signal: c.signal }) } catch (e) { return e }`,
  'a fetch aborted before its response': `const c = new AbortController(); const p = fetch(ORIGIN + '/echo', { signal: c.signal }); c.abort(); try { await p } catch (e) { return e.name }`,
  'a host that does not answer': `try { await fetch('http://127.0.0.1:1/') } catch (e) { return e.name }`,
  'a URL that cannot be fetched': `const out = []; for (const u of ['nope', 'ftp://a/b', 'file:///etc/passwd']) { try { await fetch(u) } catch (e) { out.push(e.name) } } return out`,
  'headers of an answer are read-only': `const r = await fetch(ORIGIN + '/echo'); try { r.headers.set('a', 'b') } catch (e) { return e.name }`,
  'an answer as a stream': `const r = await fetch(ORIGIN + '/echo'); let n = 0; for await (const c of r.body) n += c.length; return n > 10`,
  'cloning an answer': `const r = await fetch(ORIGIN + '/echo'); const c = r.clone(); return [c.url === r.url, c.status, (await c.json()).path, (await r.json()).path]`,
}

const SHAPES: Cases = {
  'tags of objects': `return [new Headers(), new URL('a:b'), new URLSearchParams(), new Response(), new Request('http://a'), new Blob([]), new FormData(), new AbortController(), AbortSignal.abort(), new Event('x'), new EventTarget(), new TextEncoder(), new TextDecoder(), new ReadableStream(), crypto, crypto.subtle, performance, new CustomEvent('q'), new TransformStream()].map((x) => Object.prototype.toString.call(x))`,
  'names of classes': `return [Headers, URL, URLSearchParams, Response, Request, Blob, File, FormData, AbortController, AbortSignal, Event, EventTarget, CustomEvent, TextEncoder, TextDecoder, TextEncoderStream, TextDecoderStream, ReadableStream, WritableStream, TransformStream, DOMException, Crypto, SubtleCrypto, CryptoKey, Performance].map((x) => x.name)`,
  'names of functions': `return [fetch, atob, btoa, structuredClone, queueMicrotask, setTimeout, setInterval, clearTimeout, clearInterval].map((x) => x.name)`,
  'classes are hidden from enumeration': `return ['Headers', 'URL', 'Response', 'Blob', 'Event', 'ReadableStream', 'DOMException', 'TextEncoder', 'AbortSignal'].map((n) => { const d = Object.getOwnPropertyDescriptor(globalThis, n); return [d.enumerable, d.configurable] })`,
  'arguments that constructors and fetch require': `return [Headers, Request, Response, Blob, File, FormData, Event, CustomEvent, EventTarget, AbortController, URLSearchParams, URL, TextEncoder, TextDecoder, DOMException, ReadableStream, WritableStream, TransformStream, CountQueuingStrategy, fetch].map((f) => f.length)`,
  'functions can be replaced': `return ['fetch', 'atob', 'structuredClone', 'setTimeout', 'queueMicrotask'].map((n) => { const d = Object.getOwnPropertyDescriptor(globalThis, n); return [d.enumerable, d.configurable, d.writable] })`,
  'members of classes': `return [Headers, Blob, FormData, URL, AbortController, EventTarget].map((c) => Object.keys(c.prototype).toSorted())`,
  'members of Response': `return Object.keys(Response.prototype).toSorted()`,
  'methods on the wrong object': `return [() => Headers.prototype.get.call({}, 'a'), () => Reflect.get(Blob.prototype, 'size', {}), () => Reflect.get(Response.prototype, 'status', {}), () => FormData.prototype.get.call({}, 'a'), () => Reflect.get(Event.prototype, 'type', {}), () => Reflect.get(AbortSignal.prototype, 'aborted', {}), () => TextEncoder.prototype.encode.call({}, 'x')].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'calling a class': `return [Headers, Response, Blob, Event, URL, TextEncoder].map((C) => { try { C('a'); return 'ok' } catch (e) { return e.name } })`,
  'an entries iterator': `const i = new Headers({ a: '1' }).entries(); return [typeof i.next, i[Symbol.iterator]() === i, Headers.prototype[Symbol.iterator] === Headers.prototype.entries, FormData.prototype[Symbol.iterator] === FormData.prototype.entries]`,
  'the clock': `const a = performance.now(); return [typeof a, a >= 0, Number.isFinite(performance.timeOrigin), typeof performance.toJSON().timeOrigin]`,
  'the global': `return [typeof globalThis, typeof navigator.userAgent]`,
}

/** What is different on purpose or by need: the reason, and that it still is. */
const DIFFERENCES: Readonly<Record<string, { readonly body: string; readonly why: string }>> = {
  'a timer is a number': {
    body: `const t = setTimeout(() => {}, 0); clearTimeout(t); return typeof t`,
    why: 'Node returns an object; the standard and Deno return a number',
  },
  'code in a string for a timer': {
    body: `try { clearTimeout(setTimeout('1 + 1', 0)); return 'ok' } catch (e) { return e.name }`,
    why: 'Node refuses it; the standard and Deno evaluate it',
  },
  'a class that no polyfill replaces': {
    body: `const d = Object.getOwnPropertyDescriptor(globalThis, 'CryptoKey'); return [d.enumerable, d.configurable]`,
    why: 'the calls of visitors share it, so no call can replace it',
  },
  'code that Node does not have': {
    body: `return [typeof process, typeof Buffer, typeof require, typeof setImmediate, typeof global]`,
    why: 'nothing of Node is here',
  },
  'what is missing': {
    body: `return [typeof WebSocket, typeof BroadcastChannel]`,
    why: 'not offered: functions have no sockets',
  },
  'a stream as a body needs no duplex': {
    body: `try { return new Request('http://a', { method: 'POST', body: new ReadableStream() }).method } catch (e) { return e.name }`,
    why: "Node asks for duplex: 'half'; Deno does not, and a body is sent whole anyway",
  },
  'sorting parameters with lone surrogates': {
    body: `const p = new URLSearchParams([['\\ud800', ''], ['\\ue000', '']]); p.sort(); return p.toString()`,
    why: 'the parameters are made well formed when they are written, not when they come in',
  },
  'a letter before a malformed escape in parameters': {
    body: `return [...new URLSearchParams('é%aa')]`,
    why: 'Node loses the letter; by the standard it stays',
  },
  'members of Event': {
    body: `return Object.keys(Event.prototype).toSorted()`,
    why: 'the constants are on the prototype too, as WebIDL has it',
  },
  'members of AbortSignal': {
    body: `return Object.keys(AbortSignal.prototype).toSorted()`,
    why: 'Node leaves reason and throwIfAborted out of enumeration',
  },
  'members of Request': {
    body: `return Object.keys(Request.prototype).toSorted()`,
    why: 'Node has one called attribute, which no standard knows',
  },
  'the tag of navigator': {
    body: `return Object.prototype.toString.call(navigator)`,
    why: 'Node leaves it out',
  },
  'the user agent': {
    body: `return navigator.userAgent`,
    why: 'names this product',
  },
  'self is there': {
    body: `return typeof self`,
    why: 'ECMA-429 and Deno have it, Node has not',
  },
}

const AREAS = {
  URLS,
  ENCODING,
  HEADERS,
  BODIES,
  FORMS,
  BLOBS,
  EVENTS,
  STREAMS,
  CLONES,
  TIMERS,
  CRYPTO,
  FETCHES,
  SHAPES,
}

describe('the web platform of a guest', () => {
  let guest: Guest
  let echo: Awaited<ReturnType<typeof startEcho>>
  const both = async (body: string): Promise<[unknown, unknown]> => {
    const source = `const ORIGIN = ${JSON.stringify(echo.origin)}; try { return { value: await (async () => {${body}})() } } catch (error) { return { threw: String(error?.name), message: String(error?.message) } }`
    return [await guest.run(source), await runOnNode(source)]
  }

  beforeAll(async () => {
    echo = await startEcho()
    guest = await Guest.open({ answer: sendWithNode })
  })

  afterAll(async () => {
    guest[Symbol.dispose]()
    await echo[Symbol.asyncDispose]()
  })

  for (const [area, cases] of Object.entries(AREAS))
    describe(`answers as Node does: ${area.toLowerCase()}`, () => {
      test.each(Object.entries(cases))('%s', async (_name, body) => {
        const [ours, theirs] = await both(body)
        expect(ours).toEqual(theirs)
        expect(ours).toHaveProperty('value')
      })
    })

  describe('differs from Node where it says so', () => {
    test.each(Object.entries(DIFFERENCES))('%s', async (_name, { body }) => {
      const [ours, theirs] = await both(body)
      expect(ours).not.toEqual(theirs)
    })
  })

  test('is compared over at least 120 cases', () => {
    const counted = Object.values(AREAS).flatMap((cases) => Object.keys(cases))
    expect(counted.length).toBeGreaterThanOrEqual(120)
  })
})
