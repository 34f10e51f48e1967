export default async () => {
  console.log(new AbortController(), AbortSignal.abort('r'))
}
