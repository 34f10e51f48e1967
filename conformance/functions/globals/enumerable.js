export default async () => {
  return Object.keys(new URL('http://a')).length + Object.keys(new Headers()).length
}
