/** That somebody was signed in in this browser and did not sign out: what brings them to the sign-in page is the end of their session. */
const key = 'homeport.signed-in';

export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

export function markSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(key, '1');
    else localStorage.removeItem(key);
  } catch {
    // A browser that stores nothing is only told less.
  }
}
