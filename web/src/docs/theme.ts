/** Before the first paint: the color scheme that was chosen in the product, otherwise the system's. */
function chosenScheme(): string | null {
  try {
    return localStorage.getItem('mantine-color-scheme-value');
  } catch {
    return null;
  }
}

const system = matchMedia('(prefers-color-scheme: dark)');

function apply(): void {
  const chosen = chosenScheme();
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : system.matches ? 'dark' : 'light';
  document.documentElement.dataset.mantineColorScheme = scheme;
}

apply();
system.addEventListener('change', apply);
