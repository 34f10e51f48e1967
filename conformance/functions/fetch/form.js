export default async () => {
  const f = new FormData()
  f.append('a', '1')
  f.append('f', new File(['x'], 'n.txt'))
  const r = new Response(f)
  const back = await r.formData()
  return [[...back.keys()], back.get('f').name, await back.get('f').text()]
}
