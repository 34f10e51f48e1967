export default async () => {
  return new Intl.ListFormat('en').format(['a', 'b', 'c'])
}
