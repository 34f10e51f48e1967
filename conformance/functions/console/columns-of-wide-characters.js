export default async () => {
  console.log(['日本', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg'])
}
