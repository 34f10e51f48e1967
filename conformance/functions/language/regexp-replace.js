export default async () => {
  return [
    'aXbX'.replaceAll('X', '-'),
    'a1b2'.replace(/\d/g, (d) => d * 2),
    'x'.replace('x', '$&$&'),
  ]
}
