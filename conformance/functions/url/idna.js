export default async () => {
  return [new URL('http://bücher.de/').hostname, new URL('http://xn--bcher-kva.de').hostname]
}
