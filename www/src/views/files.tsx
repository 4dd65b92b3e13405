export default function View() {
  return <p class="loading">…</p>;
}
