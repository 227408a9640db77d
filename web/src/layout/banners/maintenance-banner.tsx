import { useQuery } from '@tanstack/react-query';
import { Wrench } from 'lucide-react';
import { maintenanceQuery } from '../../api/queries.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from '../signed-in-frame.module.css';

const lookMs = 30_000;

/** Banner of the maintenance mode, with the administrators' message if there is one. */
export function MaintenanceBanner() {
  const t = useText();
  const { data } = useQuery({
    ...maintenanceQuery,
    refetchOnWindowFocus: 'always',
    refetchInterval: (query) => (query.state.data?.maintenance ? lookMs : false),
  });
  if (!data?.maintenance) return null;
  return (
    <div role="status" className={classes.offline}>
      <Wrench size={15} aria-hidden />
      <span>{data.maintenance.message ?? t('app.maintenance')}</span>
    </div>
  );
}
