export default async () => {
  return ['ä', 'z', 'a'].toSorted(new Intl.Collator('de').compare)
}
