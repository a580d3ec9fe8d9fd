"""Profiles: the tools that one kind of work needs, and the areas that can be put together instead."""

MAX_TOOLS = 40  # of an address below /mcp/x: above it editors warn, and models choose worse

AREAS = {  # and how many tools each has
    "account": 4,
    "admin": 5,
    "advisor": 8,
    "alerts": 13,
    "balances": 5,
    "bookings": 12,
    "cards": 6,
    "folio": 2,
    "hotels": 3,
    "inbox": 6,
    "integrations": 4,
    "lounges": 4,
    "notifications": 3,
    "pricing": 12,
    "search": 17,
    "spending": 3,
    "standing_orders": 6,
    "status": 6,
    "transfers": 4,
    "trips": 13,
    "vouchers": 6,
}

_TRAVELLER = """
affordable_destinations calculate_flight_earnings compare_cash_vs_points discover_more_flight_tools estimate_award_fees
explore_destinations find_status_run get_award_trip_details get_flight list_flights lookup_flight plan_trip
search_all_airlines search_availability search_cash_flights search_hybrid search_monthly_availability
compare_transfer_options find_transfer_paths list_transfer_partners whats_on_sale
get_airports get_award_chart_faq get_award_release_window get_buy_points_pricing get_cancellation_fee get_earning_rates
get_partner_award_options get_pricing get_program_rates get_program_rules list_programs list_supported_airlines
get_portfolio get_points_valuation list_points_balances create_trip create_route_monitor get_route_monitor
list_route_monitors
"""
_KEEPER = """
delete_points_balance get_points_valuation list_points_balances list_upcoming_deadlines update_points_balance
add_card list_my_cards recommend_cards remove_card search_card_catalog update_card
add_voucher apply_voucher_to_booking delete_voucher list_my_vouchers list_voucher_types update_voucher
delete_loyalty_status get_status_matches get_status_progress list_loyalty_statuses recommend_status_path
set_loyalty_status
add_flight_booking delete_flight_booking get_flight_booking list_flight_bookings update_flight_booking
add_hotel_booking delete_hotel_booking get_hotel_booking list_hotel_bookings update_hotel_booking
delete_spending_data get_spending_summary import_spending_statement
get_portfolio get_profile update_profile get_usage
"""
_HOTELS = """
get_hotel get_hotel_availability search_hotels audit_hotel_folio audit_marriott_folio
add_hotel_booking check_hotel_booking_price delete_hotel_booking get_hotel_booking get_hotel_price_history
list_hotel_bookings update_hotel_booking
delete_lounge_visit list_lounge_visits log_lounge_visit update_lounge_visit
add_voucher apply_voucher_to_booking delete_voucher list_my_vouchers list_voucher_types update_voucher
find_transfer_paths list_transfer_partners whats_on_sale
get_points_valuation list_points_balances list_upcoming_deadlines compare_cash_vs_points
get_buy_points_pricing get_program_rules list_programs list_my_cards get_status_progress list_loyalty_statuses
assign_bookings_to_trip get_trip list_trips
"""
_ADVISOR = """
create_client_portfolio delete_client_portfolio generate_branded_pdf get_client_portfolio list_branded_pdfs
list_client_portfolios revoke_branded_pdf update_client_portfolio
assign_bookings_to_trip create_trip delete_trip get_trip link_trip_items list_recent_activity list_trips
remove_chat_link remove_itinerary_item save_chat_link save_itinerary_item unlink_trip_items update_trip
plan_trip search_all_airlines search_availability search_monthly_availability search_hybrid search_cash_flights
get_award_trip_details list_flights affordable_destinations compare_cash_vs_points estimate_award_fees
find_transfer_paths compare_transfer_options whats_on_sale get_pricing get_award_release_window get_cancellation_fee
get_hotel_availability search_hotels
"""
_OPERATOR = """
admin_check_offer_duplicate admin_get_user admin_list_users admin_mcp_usage_stats admin_platform_overview
cancel_route_monitor create_delay_alert create_flight_alert create_route_monitor delete_delay_alert delete_flight_alert
get_route_monitor list_delay_alerts list_flight_alerts list_route_monitors update_delay_alert update_flight_alert
update_route_monitor
cancel_standing_order create_standing_order get_standing_order list_standing_orders run_standing_order
update_standing_order
get_booking_inbox get_calendar_feed list_inbox_messages reset_booking_inbox reset_calendar_feed resolve_inbox_message
connect_integration disconnect_integration list_integrations sync_integration
delete_notification list_notifications mark_notifications_read get_profile update_profile get_usage
"""
PROFILES = {  # what each is for, as a person is told, and its tools
    "traveller": ("tools for finding and planning a trip with points", frozenset(_TRAVELLER.split())),
    "keeper": ("tools for balances, cards, vouchers, statuses and bookings", frozenset(_KEEPER.split())),
    "hotels": ("tools for hotels, stays, bills and lounges", frozenset(_HOTELS.split())),
    "advisor": ("tools for advisors, their clients and trips", frozenset(_ADVISOR.split())),
    "operator": ("tools for watches, standing orders, mail and administration", frozenset(_OPERATOR.split())),
}
_CORE = """
search_availability search_all_airlines search_monthly_availability plan_trip compare_cash_vs_points get_pricing
get_program_rules find_transfer_paths whats_on_sale search_hotels get_portfolio list_points_balances list_my_cards
list_upcoming_deadlines list_trips create_route_monitor list_route_monitors list_notifications
"""
CORE = frozenset(_CORE.split())  # of /mcp/lean, which finds and runs the others by name
