/** What takes time or memory without end, or in a built-in that V8 cannot stop. */
const WORK: Readonly<Record<string, string>> = {
  'an endless loop': 'for (;;);',
  'indexOf in a sparse array': 'const a = []; a[2 ** 32 - 2] = 1; a.indexOf(2)',
  'includes in a sparse array': 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)',
  'squares of a BigInt': 'let x = 3n; for (;;) x = x * x',
  'a power of a BigInt': '3n ** (10n ** 9n)',
  'the digits of a BigInt': '(7n ** 3_000_000n).toString()',
  'JSON that is parsed': 'JSON.parse("[" + "{},".repeat(5e6) + "{}]")',
  'JSON that is written':
    'const a = new Array(1e4).fill("x".repeat(1e4)); for (;;) JSON.stringify(a)',
  split: '"a,".repeat(1e8).split(",")',
  localeCompare: '"\\u00e4".repeat(3e7).localeCompare("\\u00e4".repeat(3e7) + "b")',
  normalize: '"\\u00e4".repeat(5e7).normalize("NFD")',
  'a catastrophic pattern': '/^(a+)+$/.test("a".repeat(40) + "b")',
  replaceAll: '"a".repeat(1e6).replaceAll("a", "b".repeat(1e4))',
  'a sort of numbers': 'new Float64Array(2e7).map(() => Math.random()).sort()',
  'a comparator without end': '[1, 2, 3].sort(() => { for (;;); })',
  'a long sort with a comparator':
    'new Array(5e6).fill(0).map(() => Math.random()).sort((a, b) => a - b)',
  'the words of a long text':
    'for (const w of new Intl.Segmenter("th").segment("\\u0e01".repeat(3e7))) if (w.index < 0) break',
  'lastIndexOf in a huge length': 'Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'a Map that grows': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })',
  'a Set that grows': 'const s = new Set(); for (let i = 0; ; i++) s.add("k" + i)',
  'an array that grows': 'const all = []; for (;;) all.push(new Array(10_000).fill(7))',
  'a fill of a huge array': 'new Array(2 ** 32 - 1).fill(1)',
  'an array from a huge length': 'Array.from({ length: 1e9 })',
  'strings that grow': 'let s = "x"; for (;;) s += s + s.length',
  'buffers that are kept': 'const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1))',
  recursion: 'const go = () => go() + 1; go()',
  'a clone':
    'const a = []; for (let i = 0; i < 1e6; i++) a.push({ i }); for (;;) structuredClone(a)',
  'a proxy without end': 'const p = new Proxy({}, { get: (t, k, r) => r[k + "x"] }); p.a',
  'promises that make promises': 'const go = () => Promise.resolve().then(go); go()',
}

/** Where in a function it happens. */
const PLACES: Readonly<Record<string, (work: string) => string>> = {
  'at once': (work) => `export default () => { ${work}; return 1 }`,
  'after an await': (work) => `export default async () => { await 0; ${work}; return 1 }`,
  'in a timer': (work) =>
    `export default () => new Promise((go) => setTimeout(() => { ${work}; go(1) }, 2))`,
  'at the top level': (work) => `${work}; export default () => 1`,
  'in toJSON': (work) => `export default () => ({ toJSON() { ${work}; return 1 } })`,
  'in a getter of the result': (work) => `export default () => ({ get a() { ${work}; return 1 } })`,
  'in a thenable': (work) => `export default () => ({ then(go) { ${work}; go(1) } })`,
  'in what is printed': (work) =>
    `export default () => { console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { ${work}; return '' } }) }`,
  'in an error': (work) =>
    `export default () => { throw { get message() { ${work}; return '' } } }`,
}

export interface AttackScript {
  readonly name: string
  readonly code: string
}

/** Every kind of work in every place. */
export const ATTACK_SCRIPTS: readonly AttackScript[] = Object.entries(WORK).flatMap(
  ([work, statement]) =>
    Object.entries(PLACES).map(([place, script]) => ({
      name: `${work}, ${place}`,
      code: script(statement),
    })),
)

/** Every kind of work once, each in another place. */
export const SOME_ATTACKS: readonly AttackScript[] = Object.values(WORK).flatMap((_, at) => {
  const places = Object.keys(PLACES).length
  return ATTACK_SCRIPTS.slice(at * places + (at % places), at * places + (at % places) + 1)
})
