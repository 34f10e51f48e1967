export default async () => {
  const o = { a: { b: null } }
  return [o?.a?.b?.c ?? 'none', o.x?.(), o.a?.['b']]
}
