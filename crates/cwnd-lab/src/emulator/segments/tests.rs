use super::*;
use crate::address::{receiver, receiver_ipv6, sender, sender_ipv6};
use crate::emulator::packet;
use crate::emulator::pool::Pool;
use etherparse::{
    IpHeaders, IpNumber, Ipv4Header, Ipv6Header, PacketHeaders, TcpHeader, TcpOptionElement, TransportHeader,
};

const HOPS: u8 = 64;
const MSS: usize = 1000;
/// A sequence number that wraps within the packet.
const FIRST: u32 = u32::MAX - 1500;

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// A packet of TCP, with a whole checksum.
fn tcp_packet(is_ipv6: bool, sequence: u32, push: bool, payload: &[u8]) -> Vec<u8> {
    let mut tcp = TcpHeader::new(40_000, 5001, sequence, 500);
    (tcp.ack, tcp.psh, tcp.acknowledgment_number) = (true, push, 77);
    let options = [TcpOptionElement::Noop, TcpOptionElement::Noop, TcpOptionElement::Timestamp(5, 6)];
    tcp.set_options(&options).expect("they have room");
    let length = (tcp.header_len() + payload.len()) as u16;
    let ip = if is_ipv6 {
        let (source, destination) = (sender_ipv6(0).octets(), receiver_ipv6(0).octets());
        let ip = Ipv6Header {
            payload_length: length,
            next_header: IpNumber::TCP,
            hop_limit: HOPS,
            source,
            destination,
            ..Ipv6Header::default()
        };
        tcp.checksum = tcp.calc_checksum_ipv6(&ip, payload).expect("it is short enough");
        ip.to_bytes().to_vec()
    } else {
        let (source, destination) = (sender(0).octets(), receiver(0).octets());
        let mut ip =
            Ipv4Header::new(length, HOPS, IpNumber::TCP, source, destination).expect("it is short enough");
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).expect("it is short enough");
        ip.to_bytes().to_vec()
    };
    [&ip, tcp.to_bytes().as_slice(), payload].concat()
}

/// Where TCP's header begins.
fn tcp_at(packet: &[u8]) -> usize {
    if packet[0] >> 4 == 4 { 20 } else { 40 }
}

/// Leaves only the sum of the pseudo-header in the checksum of TCP.
fn with_partial_checksum(mut packet: Vec<u8>) -> (Vec<u8>, PartialChecksum) {
    let start = tcp_at(&packet);
    let addresses = if start == 20 { 12..20 } else { 8..40 };
    let length = (packet.len() - start) as u32;
    let partial = sum(&packet[addresses], 6 + length);
    packet[start + 16..start + 18].copy_from_slice(&partial.to_be_bytes());
    (packet, PartialChecksum { start: start as u16, offset: TCP_CHECKSUM })
}

fn parsed(packet: &[u8]) -> (IpHeaders, TcpHeader, Vec<u8>) {
    let headers = PacketHeaders::from_ip_slice(packet).expect("it is an IP packet");
    let payload = headers.payload.slice().to_vec();
    let Some(etherparse::NetHeaders::Ipv4(header, extensions)) = headers.net.clone() else {
        let Some(etherparse::NetHeaders::Ipv6(header, extensions)) = headers.net else { panic!("no IP") };
        let Some(TransportHeader::Tcp(tcp)) = headers.transport else { panic!("no TCP") };
        return (IpHeaders::Ipv6(header, extensions), tcp, payload);
    };
    let Some(TransportHeader::Tcp(tcp)) = headers.transport else { panic!("no TCP") };
    (IpHeaders::Ipv4(header, extensions), tcp, payload)
}

/// Checks both checksums of a packet by another implementation.
fn assert_checksums(packet: &[u8]) {
    let (ip, tcp, payload) = parsed(packet);
    let expected = match ip {
        IpHeaders::Ipv4(ip, _) => {
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            tcp.calc_checksum_ipv4(&ip, &payload)
        }
        IpHeaders::Ipv6(ip, _) => tcp.calc_checksum_ipv6(&ip, &payload),
    };
    assert_eq!(tcp.checksum, expected.expect("it is short enough"));
}

fn cut(packet: &[u8], description: &Description, room: usize) -> Vec<Vec<u8>> {
    let mut segments = Segments::new(packet, description).expect("it can be cut");
    let mut room = vec![0xEE; room];
    std::iter::from_fn(|| segments.next(packet, &mut room).map(|length| room[..length].to_vec())).collect()
}

#[test]
fn a_large_packet_becomes_the_segments_that_tcp_would_send() {
    for is_ipv6 in [false, true] {
        let payload = data(3 * MSS + 77);
        let (packet, checksum) = with_partial_checksum(tcp_packet(is_ipv6, FIRST, true, &payload));
        let description = Description { checksum: Some(checksum), segment: Some(MSS as u16) };
        let segments = cut(&packet, &description, 1500);
        assert_eq!(segments.len(), 4);
        for (i, (segment, part)) in segments.iter().zip(payload.chunks(MSS)).enumerate() {
            let mut segment = segment.clone();
            complete(&mut segment, checksum);
            assert_checksums(&segment);
            let mut expected = tcp_packet(is_ipv6, FIRST.wrapping_add((i * MSS) as u32), i == 3, part);
            if !is_ipv6 {
                // `tcp_packet` numbers all packets the same.
                let (IpHeaders::Ipv4(mut ip, _), ..) = parsed(&expected) else { panic!() };
                ip.identification = i as u16;
                ip.header_checksum = ip.calc_header_checksum();
                expected[..20].copy_from_slice(&ip.to_bytes());
            }
            assert_eq!(segment, expected, "segment {i}");
        }
    }
}

#[test]
fn the_mark_of_a_smaller_window_is_on_the_first_segment_and_the_end_on_the_last() {
    let (mut packet, checksum) = with_partial_checksum(tcp_packet(false, 1, true, &data(2500)));
    packet[33] |= CWR | FIN;
    let description = Description { checksum: Some(checksum), segment: Some(1000) };
    let flags: Vec<u8> = cut(&packet, &description, 1500).iter().map(|segment| segment[33]).collect();
    assert_eq!(flags, [ACK | CWR, ACK, ACK | PSH | FIN]);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let (packet, checksum) = with_partial_checksum(tcp_packet(false, 1, true, &data(2500)));
    let description = |start, size| Description {
        checksum: Some(PartialChecksum { start, ..checksum }),
        segment: Some(size),
    };
    assert!(Segments::new(&packet, &description(20, 1000)).is_some());
    for wrong in [description(20, 0), description(0, 1000), description(2540, 1000), description(u16::MAX, 1)]
    {
        assert!(Segments::new(&packet, &wrong).is_none(), "{wrong:?}");
    }
    assert!(Segments::new(&packet[..52], &description(20, 1000)).is_none(), "no data");
    assert!(Segments::new(&packet, &Description { checksum: None, segment: Some(1000) }).is_none());
    // Without room for them the segments are counted all the same.
    let lengths: Vec<usize> = cut(&packet, &description(20, 1000), 900).iter().map(Vec::len).collect();
    assert_eq!(lengths, [0, 0, 552]);
}

fn frames(packets: &[Vec<u8>]) -> Vec<Frame> {
    let mut pool = Pool::new(2000, packets.len());
    let frame = |packet: &Vec<u8>| {
        let (packet, checksum) = with_partial_checksum(packet.clone());
        let mut frame = pool.take();
        frame.room()[..packet.len()].copy_from_slice(&packet);
        frame.meta.length = packet.len() as u32;
        frame.meta.checksum = Some(checksum);
        frame.meta.tcp = packet::read(&packet).expect("it is an IP packet").tcp;
        frame
    };
    packets.iter().map(frame).collect()
}

/// Joins all frames that can be, as a device does. Returns the packets and the length of the segments of those that were joined.
fn joined(mut frames: Vec<Frame>) -> Vec<(Vec<u8>, Option<u16>)> {
    let mut packets = Vec::new();
    while !frames.is_empty() {
        let payload = |frame: &Frame| frame.meta.tcp.map_or(0, |tcp| tcp.payload as usize);
        let mut count = 1;
        let mut bytes = payload(&frames[0]);
        if can_begin(&frames[0]) {
            while count < frames.len() && can_join(&frames[0], &frames[count - 1], bytes, &frames[count]) {
                bytes += payload(&frames[count]);
                count += 1;
            }
        }
        let mut run: Vec<Frame> = frames.drain(..count).collect();
        if count == 1 {
            packets.push((run[0].bytes().to_vec(), None));
            continue;
        }
        let at = tcp_at(run[0].bytes());
        let last_flags = run[count - 1].bytes()[at + 13];
        let (description, headers) = join(&mut run[0], last_flags, bytes);
        let mut packet = run[0].bytes().to_vec();
        run[1..].iter().for_each(|frame| packet.extend(&frame.bytes()[headers..]));
        packets.push((packet, description.segment));
    }
    packets
}

#[test]
fn segments_are_joined_to_what_they_were_cut_from() {
    for is_ipv6 in [false, true] {
        let (packet, checksum) = with_partial_checksum(tcp_packet(is_ipv6, FIRST, true, &data(5 * MSS + 1)));
        let description = Description { checksum: Some(checksum), segment: Some(MSS as u16) };
        let segments = cut(&packet, &description, 1500);
        let again = joined(frames(&segments));
        assert_eq!(again, [(packet, description.segment)]);
        let bytes = description.bytes(is_ipv6, tcp_at(&segments[0]) + 32);
        assert_eq!(Description::read(bytes), description);
    }
}

#[test]
fn only_what_follows_with_the_same_headers_is_joined() {
    let packet = |sequence, push, length| tcp_packet(false, sequence, push, &data(length));
    let numbers = |packets: &[Vec<u8>]| -> Vec<usize> {
        joined(frames(packets)).iter().map(|(packet, _)| (packet.len() - 52).div_ceil(MSS)).collect()
    };
    assert_eq!(numbers(&[packet(0, false, 1000), packet(1000, false, 1000), packet(2000, false, 1000)]), [3]);
    // A gap, a repetition, a short segment, one that is to be passed on, one that is longer, and an ACK.
    assert_eq!(numbers(&[packet(0, false, 1000), packet(2000, false, 1000)]), [1, 1]);
    assert_eq!(numbers(&[packet(0, false, 1000), packet(0, false, 1000)]), [1, 1]);
    assert_eq!(
        numbers(&[packet(0, false, 1000), packet(1000, false, 10), packet(1010, false, 1000)]),
        [2, 1]
    );
    assert_eq!(
        numbers(&[packet(0, false, 1000), packet(1000, true, 1000), packet(2000, false, 1000)]),
        [2, 1]
    );
    assert_eq!(numbers(&[packet(0, true, 1000), packet(1000, false, 1000)]), [1, 1]);
    assert_eq!(numbers(&[packet(0, false, 500), packet(500, false, 1000)]), [1, 1]);
    assert_eq!(numbers(&[packet(0, false, 1000), packet(1000, false, 0)]), [1, 0]);
    // Other headers: ECN field, hops, port, acknowledgement, flags, window, timestamps. The number of the packet does not count.
    let changed = |at: usize, to: u8| {
        let mut other = packet(1000, false, 1000);
        assert_ne!(other[at], to);
        other[at] = to;
        numbers(&[packet(0, false, 1000), other])
    };
    for (at, to) in [(1, 3), (8, 9), (21, 1), (31, 9), (33, 0x30), (33, 0x11), (33, 0x50), (34, 9), (51, 9)] {
        assert_eq!(changed(at, to), [1, 1], "byte {at}");
    }
    assert_eq!(changed(5, 9), [2]);
}

#[test]
fn a_joined_packet_is_no_longer_than_ip_allows() {
    let packets: Vec<Vec<u8>> = (0..70).map(|i| tcp_packet(false, i * 1000, false, &data(1000))).collect();
    let lengths: Vec<usize> = joined(frames(&packets)).iter().map(|(packet, _)| packet.len()).collect();
    assert_eq!(lengths, [52 + 65_000, 52 + 5_000]);
}

#[test]
fn a_checksum_that_is_zero_has_another_form_in_udp_alone() {
    for (offset, expected) in [(UDP_CHECKSUM, [0xFF; 2]), (TCP_CHECKSUM, [0; 2])] {
        let mut packet = vec![0; 24];
        packet[20..22].fill(0xFF);
        complete(&mut packet, PartialChecksum { start: 2, offset });
        let field = 2 + usize::from(offset);
        let mut whole = vec![0; 24];
        whole[20..22].fill(0xFF);
        whole[field..field + 2].copy_from_slice(&expected);
        assert_eq!(packet, whole);
        // Beyond the end there is nothing to complete.
        complete(&mut packet, PartialChecksum { start: 23, offset });
        assert_eq!(packet, whole);
    }
}
