export default async () => {
  return ['../x', '?q', '#f', '//h/p', 'x y'].map((r) => new URL(r, 'http://a.b/c/d').href)
}
