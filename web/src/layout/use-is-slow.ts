import { useEffect, useState } from 'react';

/** True once the component has existed for 200 ms: shorter waits show nothing, so that nothing flickers. */
export function useIsSlow(milliseconds = 200): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds]);
  return isSlow;
}
