export default async () => {
  const b = new Blob(['ab', new Uint8Array([99])], { type: 'X/Y' })
  return [b.size, b.type, await b.slice(1).text(), [...new Uint8Array(await b.arrayBuffer())]]
}
