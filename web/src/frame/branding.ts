import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { publicConfigQuery } from '../queries.ts';

/** The installation's branding; index.html brings it, so it is there from the first render. */
export function useBranding() {
  const branding = useQuery(publicConfigQuery).data?.branding;
  if (!branding) throw new Error('The public configuration is read before the first render');
  return branding;
}

/** Sets the page title: `Title · Product`, or the product alone. */
export function useTitle(title: string | undefined): void {
  const { productName } = useBranding();
  useEffect(() => {
    document.title = title ? `${title} · ${productName}` : productName;
  }, [title, productName]);
}
